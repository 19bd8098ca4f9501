package io.onlyonce.retention;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.CommandExpiredException;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.outbox.OutboxEvent;

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Date;
import java.util.List;

/** A process whose clock is a day ahead of the database's purges nothing early. */
class MovedClockTest extends DatabaseContract {

    MovedClockTest() {
        super(TestDatabase::postgres);
    }

    /** The other process: says how far ahead it is, purges, and asks for what has not expired. */
    static final class Ahead {
        public static void main(String[] args) throws Exception {
            var dataSource = DataSources.unpooled(args[0], args[1], args[2]);
            try (Connection connection = dataSource.getConnection();
                    var statement = connection.createStatement();
                    var row = statement.executeQuery("SELECT clock_timestamp()")) {
                row.next();
                Instant there = row.getObject(1, OffsetDateTime.class).toInstant();
                for (Instant here :
                        List.of(
                                Instant.now(),
                                OffsetDateTime.now().toInstant(),
                                Instant.ofEpochMilli(System.currentTimeMillis()),
                                new Date().toInstant())) {
                    System.out.println("ahead " + Duration.between(there, here).toHours());
                }
            }
            var once = Attic.once(dataSource);
            PurgeReport report =
                    once.retention(
                                    RetentionOptions.standard()
                                            .tombstoning("pay")
                                            .withArchiveKept(Duration.ofDays(10)))
                            .runOnce(Attic.LONG);
            System.out.println("removed " + report.total() + " left " + report.left());
            System.out.println(
                    once.commands()
                            .run(Attic.command("pay", args[3]), String.class, work -> "anew")
                            .value());
            try {
                once.commands().run(Attic.command("pay", args[4]), String.class, work -> "anew");
            } catch (CommandExpiredException e) {
                System.out.println("refused");
            }
        }
    }

    /** Half a day before its time. */
    private void early(String table, String condition, Duration kept, String... columns)
            throws SQLException {
        for (String column : columns) {
            db.execute(
                    "UPDATE onlyonce.%1$s SET %2$s = now() - interval '%3$d hours' WHERE %4$s"
                            .formatted(table, column, kept.toHours() - 12, condition));
        }
    }

    @Test
    void nothing_goes_before_its_time_on_the_databases_clock() throws Exception {
        Attic.open(db);
        Attic.indexTombstones(db);
        var once = Attic.once(db.pool(2));
        String due = Attic.run(once, "send");
        Attic.age(db, due, 15);
        String live = Attic.run(once, "pay");
        early("command_dedup", "command_id = '" + live + "'", Duration.ZERO, "expires_at");
        String expired = Attic.run(once, "pay");
        Attic.age(db, expired, 10);
        early("command_dedup", "command_id = '" + expired + "'", Duration.ZERO, "forget_at");
        db.execute(
                "UPDATE onlyonce.command_dedup SET result = NULL, content_tag = NULL WHERE"
                        + " command_id = '"
                        + expired
                        + "'");
        once.inbox("billing")
                .process(
                        InboxMessage.of("acme", "orders", Markers.MARK + "m-1", new byte[] {1}),
                        work -> {});
        early("inbox_message", "true", Duration.ofDays(30), "received_at", "processed_at");
        once.transactions()
                .execute(
                        c ->
                                once.outbox()
                                        .append(
                                                c,
                                                "acme",
                                                OutboxEvent.of(
                                                        Markers.MARK + "e-1",
                                                        "Account",
                                                        "a-1",
                                                        "Paid",
                                                        new byte[] {1})));
        db.execute("UPDATE onlyonce.outbox_event SET state = 1, settled_at = now()");
        early("outbox_event", "true", Duration.ofDays(7), "settled_at");
        db.execute(
                "INSERT INTO onlyonce.command_archive (%1$s) SELECT %1$s FROM onlyonce.command_dedup WHERE command_id = '%2$s'"
                        .formatted(Step.ARCHIVED, live));
        early("command_archive", "true", Duration.ofDays(10), "archived_at");

        try (var child =
                ChildJvm.startAhead(
                        Ahead.class, db.url(), db.user(), db.password(), live, expired)) {
            for (int clock = 0; clock < 4; clock++) {
                assertThat(child.awaitLine("ahead ")).isIn("ahead 23", "ahead 24");
            }
            assertThat(child.awaitLine("removed ")).isEqualTo("removed 1 left 0");
            child.awaitLine("receipt of " + live);
            child.awaitLine("refused");
        }

        assertThat(Attic.isThere(db, due)).isFalse();
        for (String table : List.of("inbox_message", "outbox_event", "command_archive")) {
            assertThat(db.count("SELECT count(*) FROM onlyonce." + table)).as(table).isEqualTo(1);
        }
    }
}
