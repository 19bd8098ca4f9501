package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.sql.Database;
import io.onlyonce.sql.SchemaName;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Relays that act on what is no longer theirs. */
class LeaseFaultsTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final Recorder recorder = new Recorder();
    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(db.pool(8)).withoutExpiry().build();
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    private void append(OutboxEvent... events) throws SQLException {
        once.transactions().execute(c -> once.outbox().append(c, "acme", List.of(events)));
    }

    private long stuck() throws SQLException {
        return db.count(
                """
                SELECT count(*) FROM onlyonce.outbox_event e WHERE state = 3 AND NOT EXISTS (
                    SELECT FROM onlyonce.outbox_blocked b WHERE b.aggregate_id = e.aggregate_id)
                """);
    }

    @Test
    void a_relay_without_the_lease_lets_no_aggregate_go_on() throws Exception {
        append(RelayContract.event("a", 2));
        db.execute(
                """
                INSERT INTO onlyonce.outbox_blocked (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
                SELECT now(), bucket, true, 'a', 'Case', 'acme' FROM onlyonce.outbox_event
                """);
        int bucket = (int) db.count("SELECT bucket FROM onlyonce.outbox_event");
        try (Connection heir = db.connect();
                Connection late = db.connect()) {
            var store = RelayStore.of(Database.of(late), SchemaName.DEFAULT, OutboxMode.KEEP);
            var due = store.fetch(late, "", List.of(bucket), 10).due();
            heir.setAutoCommit(false);
            heir.createStatement().execute("UPDATE onlyonce.outbox_event SET state = 3");

            store.settle(
                    late,
                    Map.of(bucket, 7L),
                    new RelayStore.Settlement(List.of(), List.of(), List.of(), due, true));

            heir.commit();
        }
        assertThat(stuck()).as("waiting, and nobody knows").isZero();
    }
}
