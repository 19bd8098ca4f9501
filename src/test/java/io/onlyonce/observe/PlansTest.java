package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.retention.Retention;
import io.onlyonce.retention.RetentionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.time.Duration;

/** No question of an operator, and no chunk of retention, reads a large table as a whole. */
class PlansTest extends DatabaseContract {

    private static final String WHOLE =
            "Seq Scan on (command_dedup|command_archive|inbox_message|outbox_event|outbox_blocked)";

    private OnlyOnce once;

    PlansTest() {
        super(TestDatabase::postgres);
    }

    long rows() {
        return 100_000;
    }

    @BeforeAll
    void fill() throws Exception {
        LargeTables.fill(db, rows());
        once = OnlyOnce.on(db.dataSource()).withoutExpiry().build();
    }

    @Test
    void every_question_and_then_every_chunk_is_carried_by_an_index() throws Exception {
        questions();
        chunks();
    }

    private void questions() throws Exception {
        Inspector inspector = once.inspector();
        var explained = new Explained();
        try (var real = db.connect();
                var bound = real.createStatement()) {
            bound.execute("SET statement_timeout = '5s'"); // of any size
            var connection = explained.connection(real);
            assertThat(inspector.unresolvedCommands(connection, 20)).hasSize(20);
            assertThat(inspector.unfinishedMessages(connection, 20)).hasSize(20);
            assertThat(inspector.unresolved(connection).rows())
                    .isEqualTo(Math.min(Inspector.COUNTED, rows() / 1_000));
            assertThat(inspector.overdue(connection).rows())
                    .isEqualTo(Math.min(Inspector.COUNTED, rows() / 100));
            assertThat(inspector.backlog(connection).rows())
                    .isEqualTo(Math.min(Inspector.COUNTED, rows() / 4_000));
            assertThat(inspector.deadLetters(connection).rows()).isPositive();
            assertThat(inspector.blocked(connection, 20)).hasSize(20);
            assertThat(inspector.newIds(connection, Duration.ofHours(6), 20)).hasSize(20);
            inspector.inFlight(connection);
            assertThat(inspector.sizes(connection)).isNotEmpty();
            assertThat(once.deadLetters().list(connection, 20)).hasSize(20);
        }
        assertThat(explained.plans()).hasSize(11);
        assertNothingIsReadAsAWhole(explained);
    }

    private void chunks() throws Exception {
        var explained = new Explained();
        var source = explained.source(db.dataSource());
        var options =
                RetentionOptions.standard()
                        .archiving("op-1")
                        .tombstoning("op-1")
                        .withArchiveKept(Duration.ofDays(364));

        Retention retention = OnlyOnce.on(source).withoutExpiry().build().retention(options);
        assertThat(retention.lag()).isPositive();
        retention.runOnce(Duration.ofSeconds(20));

        assertThat(explained.plans())
                .filteredOn(plan -> plan.contains("SKIP LOCKED"))
                .hasSizeGreaterThan(4);
        assertNothingIsReadAsAWhole(explained);
    }

    private static void assertNothingIsReadAsAWhole(Explained explained) {
        assertThat(explained.plans())
                .allSatisfy(plan -> assertThat(plan).doesNotContainPattern(WHOLE));
    }
}
