package io.onlyonce.retention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.command.Claim;
import io.onlyonce.command.CommandExpiredException;
import io.onlyonce.command.CommandOutcomeUnknownException;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.retention.PurgeReport.End;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What retention promises on every database. */
abstract class RetentionContract extends DatabaseContract {

    private static final RetentionOptions STANDARD = RetentionOptions.standard();

    private OnlyOnce once;

    RetentionContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openAttic() throws Exception {
        Attic.open(db);
        once = Attic.once(db.pool(8));
    }

    @BeforeEach
    void empty() throws Exception {
        for (String table :
                List.of("command_dedup", "command_archive", "inbox_message", "outbox_event")) {
            db.execute("DELETE FROM onlyonce." + table);
        }
    }

    private String replay(String operation, String id) throws Exception {
        return once.commands()
                .run(Attic.command(operation, id), String.class, work -> "anew")
                .value();
    }

    @Test
    void what_may_be_forgotten_goes_and_all_other_commands_stay() throws Exception {
        String fresh = Attic.run(once, "pay");
        String expired = Attic.run(once, "pay");
        Attic.age(db, expired, 13);
        String forgotten = Attic.run(once, "pay");
        Attic.age(db, forgotten, 15);
        String unresolved = Attic.leave(once, db, "pay");
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - INTERVAL '900' DAY,"
                        + " expires_at = expires_at - INTERVAL '900' DAY WHERE command_id = '"
                        + unresolved
                        + "'");
        String kept = "kept";
        once.commands()
                .run(Attic.command("pay", kept).withoutExpiry(), String.class, work -> "for ever");

        PurgeReport report = once.retention().runOnce(Attic.LONG);

        assertThat(report.commands()).isEqualTo(1);
        assertThat(report.total()).isEqualTo(1);
        assertThat(report.end()).isEqualTo(End.DONE);
        assertThat(report.left()).isZero();
        assertThat(Attic.isThere(db, forgotten)).isFalse();
        assertThat(replay("pay", forgotten)).isEqualTo("anew");
        assertThat(replay("pay", fresh)).isEqualTo("receipt of " + fresh);
        assertThat(replay("pay", kept)).isEqualTo("for ever");
        assertThatThrownBy(() -> replay("pay", expired))
                .isInstanceOf(CommandExpiredException.class);
        assertThatThrownBy(() -> replay("pay", unresolved))
                .isInstanceOf(CommandOutcomeUnknownException.class);
    }

    @Test
    void a_claim_in_flight_is_neither_waited_for_nor_touched() throws Exception {
        String forgotten = Attic.run(once, "pay");
        Attic.age(db, forgotten, 15);
        try (Connection caller = db.connect()) {
            caller.setAutoCommit(false);
            Claim.Started started =
                    (Claim.Started)
                            once.dedup()
                                    .tryStart(
                                            caller, Attic.command("pay", Markers.MARK + "flying"));

            assertThat(once.retention().runOnce(Attic.LONG).commands()).isEqualTo(1);

            once.dedup().complete(caller, started, "landed");
            caller.commit();
        }
        assertThat(replay("pay", Markers.MARK + "flying")).isEqualTo("landed");
    }

    @Test
    void rejections_go_like_results() throws Exception {
        var command = Attic.command("pay", "no");
        assertThatThrownBy(
                        () ->
                                once.commands()
                                        .run(
                                                command,
                                                String.class,
                                                work -> {
                                                    throw new CommandRejectedException("NO", "no");
                                                }))
                .isInstanceOf(CommandRejectedException.class);
        Attic.age(db, "no", 15);

        assertThat(once.retention().runOnce(Attic.LONG).commands()).isEqualTo(1);
        assertThat(replay("pay", "no")).isEqualTo("anew");
    }

    @Test
    void archived_operations_are_copied_with_every_column_and_others_are_not() throws Exception {
        String paid = Attic.run(once, "pay");
        String sent = Attic.run(once, "send");
        Attic.age(db, paid, 15);
        Attic.age(db, sent, 15);
        String columns = "SELECT %s FROM onlyonce.%s WHERE command_id = '" + paid + "'";
        List<List<Object>> before = rows(columns.formatted(Step.ARCHIVED, "command_dedup"));

        PurgeReport report = once.retention(STANDARD.archiving("pay")).runOnce(Attic.LONG);

        assertThat(report.commands()).isEqualTo(2);
        assertThat(report.archived()).isEqualTo(1);
        assertThat(before).hasSize(1);
        assertThat(rows(columns.formatted(Step.ARCHIVED, "command_archive"))).isEqualTo(before);
        assertThat(Attic.archived(db, "send")).isZero();
        assertThat(Attic.rows(db, "pay") + Attic.rows(db, "send")).isZero();
    }

    private List<List<Object>> rows(String query) throws Exception {
        List<List<Object>> rows = new ArrayList<>();
        try (var connection = db.connect();
                var statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            while (row.next()) {
                List<Object> values = new ArrayList<>();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    String type = row.getMetaData().getColumnTypeName(i).toLowerCase();
                    boolean bytes = type.contains("bytea") || type.contains("binary");
                    values.add(
                            bytes ? new String(row.getBytes(i), "ISO-8859-1") : row.getObject(i));
                }
                rows.add(values);
            }
        }
        return rows;
    }

    @Test
    void the_archive_has_a_retention_of_its_own() throws Exception {
        Attic.fill(db, "pay", 10);
        once.retention(STANDARD.archivingAll()).runOnce(Attic.LONG);
        assertThat(Attic.archived(db, "pay")).isEqualTo(10);
        db.execute(
                "UPDATE onlyonce.command_archive SET archived_at = archived_at - INTERVAL '400' DAY"
                        + " WHERE command_id <> 'pay-1'");

        assertThat(once.retention().runOnce(Attic.LONG).archiveRows()).isZero();
        PurgeReport report =
                once.retention(STANDARD.withArchiveKept(Duration.ofDays(365))).runOnce(Attic.LONG);

        assertThat(report.archiveRows()).isEqualTo(9);
        assertThat(Attic.archived(db, "pay")).isEqualTo(1);
    }

    @Test
    void a_tombstone_has_no_result_and_its_id_stays_refused() throws Exception {
        RetentionOptions options = STANDARD.tombstoning("pay");
        db.execute("DROP INDEX IF EXISTS onlyonce.command_dedup_tombstone");
        assertThatThrownBy(() -> once.retention(options))
                .isInstanceOf(SchemaOutdatedException.class)
                .hasMessageContaining("tombstones.sql");
        Attic.indexTombstones(db);
        String fresh = Attic.run(once, "pay");
        String expired = Attic.run(once, "pay");
        String other = Attic.run(once, "send");
        Attic.age(db, expired, 8);
        Attic.age(db, other, 8);

        PurgeReport report = once.retention(options).runOnce(Attic.LONG);

        assertThat(report.tombstones()).isEqualTo(1);
        assertThat(report.commands()).isZero();
        String stored =
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE result IS NOT NULL AND"
                        + " command_id = '%s'";
        assertThat(db.count(stored.formatted(expired))).isZero();
        assertThat(db.count(stored.formatted(other))).isEqualTo(1);
        assertThatThrownBy(() -> replay("pay", expired))
                .isInstanceOf(CommandExpiredException.class);
        assertThat(replay("pay", fresh)).isEqualTo("receipt of " + fresh);
        assertThat(once.retention(options).runOnce(Attic.LONG).total()).isZero();
    }

    @Test
    void processed_messages_go_after_their_time_and_unfinished_ones_never() throws Exception {
        var inbox = once.inbox("billing");
        for (String id : List.of("old", "new", "unfinished")) {
            inbox.process(InboxMessage.of("acme", "orders", id, new byte[] {1}), work -> {});
        }
        String back =
                "UPDATE onlyonce.inbox_message SET received_at = received_at - INTERVAL '%1$d' DAY,"
                        + " processed_at = processed_at - INTERVAL '%1$d' DAY WHERE message_id ="
                        + " '%2$s'";
        db.execute(back.formatted(31, "old"));
        db.execute(back.formatted(29, "new"));
        db.execute(back.formatted(300, "unfinished"));
        db.execute("UPDATE onlyonce.inbox_message SET status = 0 WHERE message_id = 'unfinished'");

        assertThat(once.retention().runOnce(Attic.LONG).messages()).isEqualTo(1);
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.inbox_message WHERE message_id = 'old'"))
                .isZero();
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.inbox_message")).isEqualTo(2);
    }

    @Test
    void published_and_discarded_events_go_after_their_time_and_no_others() throws Exception {
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            for (String key : List.of("0", "2", "3", "old", "new", "given up", "just given up")) {
                once.outbox()
                        .append(
                                connection,
                                "acme",
                                OutboxEvent.of(key, "Account", key, "Paid", new byte[] {1}));
            }
            connection.commit();
        }
        db.execute("UPDATE onlyonce.outbox_event SET created_at = created_at - INTERVAL '90' DAY");
        for (String state : List.of("2", "3")) { // dead, waiting
            db.execute(
                    "UPDATE onlyonce.outbox_event SET state = %1$s WHERE event_key = '%1$s'"
                            .formatted(state));
        }
        String settled =
                "UPDATE onlyonce.outbox_event SET state = %d, settled_at = CURRENT_TIMESTAMP -"
                        + " INTERVAL '%d' DAY WHERE event_key = '%s'";
        db.execute(settled.formatted(1, 8, "old"));
        db.execute(settled.formatted(1, 6, "new"));
        db.execute(settled.formatted(4, 8, "given up"));
        db.execute("UPDATE onlyonce.outbox_event SET state = 2 WHERE event_key = 'just given up'");
        try (Connection connection = db.connect()) {
            assertThat(once.deadLetters().discard(connection, "acme", "just given up")).isTrue();
        }

        assertThat(once.retention().runOnce(Attic.LONG).events()).isEqualTo(2);
        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.outbox_event WHERE event_key IN"
                                        + " ('old', 'given up')"))
                .isZero();
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.outbox_event")).isEqualTo(5);
    }

    @Test
    void a_preview_counts_and_changes_nothing() throws Exception {
        Attic.fill(db, "pay", 1_500);

        PurgeReport preview = once.retention().preview();

        assertThat(preview.commands()).isEqualTo(1_500);
        assertThat(preview.left()).isEqualTo(1_500);
        assertThat(Attic.rows(db, "pay")).isEqualTo(1_500);
    }

    @Test
    void the_lag_is_how_long_the_oldest_row_that_is_due_could_have_gone() throws Exception {
        Retention retention = once.retention();
        String forgotten = Attic.run(once, "pay");
        Attic.age(db, forgotten, 13);
        Attic.leave(once, db, "pay");
        assertThat(retention.lag()).as("nothing is due").isZero();

        Attic.age(db, forgotten, 3); // 14 days, and then two
        assertThat(retention.lag()).isBetween(Duration.ofDays(2), Duration.ofHours(49));
        once.inbox("billing")
                .process(InboxMessage.of("acme", "orders", "old", new byte[] {1}), work -> {});
        db.execute(
                "UPDATE onlyonce.inbox_message SET received_at = received_at - INTERVAL '35' DAY,"
                        + " processed_at = processed_at - INTERVAL '35' DAY");
        assertThat(retention.lag()).isBetween(Duration.ofDays(5), Duration.ofHours(121));

        retention.runOnce(Attic.LONG);
        assertThat(retention.lag()).isZero();
    }

    @Test
    void it_goes_in_chunks_and_tells_of_its_progress() throws Exception {
        Attic.fill(db, "pay", 4_000);
        List<Long> progress = new ArrayList<>();

        PurgeReport report =
                once.retention().runOnce(Attic.LONG, so -> progress.add(so.commands()));

        assertThat(report.commands()).isEqualTo(4_000);
        assertThat(progress).hasSizeGreaterThan(2).isSorted().endsWith(4_000L);
        assertThat(Attic.rows(db, "pay")).isZero();
    }

    @Test
    void it_can_be_stopped_at_any_chunk_and_the_next_run_goes_on() throws Exception {
        Attic.fill(db, "pay", 3_000);
        Retention first = once.retention();

        PurgeReport stopped = first.runOnce(Attic.LONG, so -> first.close());

        assertThat(stopped.end()).isEqualTo(End.STOPPED);
        assertThat(stopped.commands()).isBetween(1L, 1_000L);
        assertThat(stopped.left()).isEqualTo(3_000 - stopped.commands());
        assertThat(once.retention().runOnce(Duration.ZERO).end()).isEqualTo(End.DEADLINE);
        PurgeReport rest = once.retention().runOnce(Attic.LONG);
        assertThat(rest.end()).isEqualTo(End.DONE);
        assertThat(rest.commands()).isEqualTo(stopped.left());
    }

    @Test
    void an_interrupt_ends_the_run_between_chunks() throws Exception {
        Attic.fill(db, "pay", 3_000);

        PurgeReport report =
                once.retention().runOnce(Attic.LONG, so -> Thread.currentThread().interrupt());

        assertThat(Thread.interrupted()).isTrue();
        assertThat(report.end()).isEqualTo(End.STOPPED);
        assertThat(report.commands()).isBetween(1L, 1_000L);
    }

    @Test
    void rows_in_somebody_elses_hands_are_not_waited_for() throws Exception {
        Attic.fill(db, "pay", 10);
        try (Connection other = db.connect()) {
            other.setAutoCommit(false);
            try (var statement = other.createStatement()) {
                statement.execute(
                        "SELECT 1 FROM onlyonce.command_dedup WHERE command_id IN ('pay-1',"
                                + " 'pay-7') FOR UPDATE");
            }

            PurgeReport report = once.retention().runOnce(Attic.LONG);

            assertThat(report.commands()).isEqualTo(8);
            assertThat(report.left()).isEqualTo(2);
            other.rollback();
        }
        assertThat(once.retention().runOnce(Attic.LONG).commands()).isEqualTo(2);
    }

    @Test
    void a_second_runner_finds_out_at_once_and_ends() throws Exception {
        Attic.fill(db, "pay", 10);
        List<PurgeReport> second = new ArrayList<>();
        try (Connection runner = db.connect()) {
            runner.setAutoCommit(false);
            hold(runner);

            second.add(once.retention().runOnce(Attic.LONG));

            runner.rollback();
        }
        assertThat(second.get(0).end()).isEqualTo(End.ELSEWHERE);
        assertThat(second.get(0).left()).isEqualTo(10);
        assertThat(Attic.rows(db, "pay")).isEqualTo(10);
    }

    /** Takes the lock of a run as another process would. */
    abstract void hold(Connection runner) throws Exception;

    @Test
    void as_a_daemon_it_runs_until_it_is_stopped() throws Exception {
        Retention retention = once.retention();
        retention.start(Duration.ofMillis(20));
        retention.start(Duration.ofMillis(20));
        for (String operation : List.of("pay", "send")) {
            Attic.fill(db, operation, 10);
            Await.until(Attic.LONG, () -> Attic.rows(db, operation) == 0, "the rows have gone");
        }

        assertThat(retention.stop(Attic.LONG)).isTrue();

        assertThatThrownBy(() -> retention.start(Attic.LONG))
                .isInstanceOf(IllegalStateException.class);
        Attic.fill(db, "pay", 1);
        assertThat(retention.runOnce(Attic.LONG).end()).isEqualTo(End.STOPPED);
        assertThat(Attic.rows(db, "pay")).isEqualTo(1);
    }

    @Test
    void a_daemon_survives_a_failing_database() throws Exception {
        Attic.fill(db, "pay", 10);
        db.execute("ALTER TABLE onlyonce.command_dedup RENAME TO away");
        Retention retention = once.retention();
        try {
            assertThatThrownBy(() -> retention.runOnce(Attic.LONG))
                    .isInstanceOf(SchemaOutdatedException.class);
            retention.start(Duration.ofMillis(20));
        } finally {
            db.execute(
                    db.isPostgres()
                            ? "ALTER TABLE onlyonce.away RENAME TO command_dedup"
                            : "ALTER TABLE onlyonce.away RENAME TO onlyonce.command_dedup");
        }
        Await.until(Attic.LONG, () -> Attic.rows(db, "pay") == 0, "the rows have gone");
        retention.close();
    }
}
