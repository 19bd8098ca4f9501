package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Race;
import io.onlyonce.outbox.EventKeyReusedException;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.ResultType;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What running a command promises on every database. */
abstract class CommandRunnerContract extends DatabaseContract {

    record Receipt(String number, long amount, Instant at) {}

    protected OnlyOnce once;
    protected CommandRunner commands;

    CommandRunnerContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('a', 0)");
        once = Bank.once(db.pool(16));
        commands = once.commands();
    }

    private static RunOptions at(Isolation isolation) {
        return RunOptions.standard()
                .withTransaction(TransactionOptions.readCommitted().withIsolation(isolation));
    }

    private Outcome<String> deposit(String id, RunOptions options) throws SQLException {
        return commands.run(
                Bank.command(id),
                String.class,
                options,
                work -> {
                    Bank.deposit(work.connection(), "a", id);
                    work.outbox().append(Bank.event(id));
                    return "receipt of " + id;
                });
    }

    private Outcome<String> deposit(String id) throws SQLException {
        return deposit(id, RunOptions.standard());
    }

    @ParameterizedTest
    @EnumSource
    void work_and_result_and_event_commit_together_and_are_replayed(Isolation isolation)
            throws Exception {
        String id = Bank.id("fresh");

        Outcome<String> first = deposit(id, at(isolation));
        Outcome<String> second = deposit(id, at(isolation));

        assertThat(first).isEqualTo(new Outcome<>("receipt of " + id, false));
        assertThat(second).isEqualTo(new Outcome<>("receipt of " + id, true));
        assertThat(Bank.effects(db, id)).isEqualTo(1);
        assertThat(Bank.events(db, id)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("repeated")
    void racing_callers_of_one_command_run_the_work_once(Isolation isolation) throws Exception {
        for (int round = 0; round < 20; round++) {
            String id = Bank.id("race");
            var runs = new AtomicInteger();

            List<Outcome<String>> outcomes =
                    Race.of(
                            8,
                            () ->
                                    commands.run(
                                            Bank.command(id),
                                            String.class,
                                            at(isolation),
                                            work -> {
                                                Bank.execute(
                                                        work.connection(),
                                                        "INSERT INTO audit VALUES (?, 'race')",
                                                        id);
                                                return "receipt-" + runs.incrementAndGet();
                                            }));

            assertThat(runs).hasValue(1);
            assertThat(outcomes).extracting(Outcome::value).containsOnly("receipt-1");
            assertThat(outcomes).filteredOn(o -> !o.replayed()).hasSize(1);
            assertThat(Bank.effects(db, id)).isEqualTo(1);
        }
    }

    @Test
    void the_same_id_in_another_scope_is_another_command() throws Exception {
        String id = Bank.id("scopes");
        var hash = PayloadHash.ofBytes(new byte[] {1});
        for (CommandScope scope :
                List.of(
                        new CommandScope("t1", "c1", "o1"),
                        new CommandScope("t2", "c1", "o1"),
                        new CommandScope("t1", "c2", "o1"),
                        new CommandScope("t1", "c1", "o2"))) {
            var outcome =
                    commands.run(Command.of(scope, id, hash), String.class, w -> scope.toString());

            assertThat(outcome).isEqualTo(new Outcome<>(scope.toString(), false));
        }
        assertThat(Bank.rows(db, id)).isEqualTo(4);
    }

    @Test
    void rolled_back_work_leaves_the_id_free_and_nothing_behind() throws Exception {
        String id = Bank.id("failed");
        var failure = new IOException("no paper");

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            work.outbox().append(Bank.event(id));
                                            throw failure;
                                        }))
                .isSameAs(failure);

        assertThat(Bank.effects(db, id)).isZero();
        assertThat(Bank.rows(db, id)).isZero();
        assertThat(deposit(id).replayed()).isFalse();
    }

    @Test
    void another_payload_under_a_known_id_is_refused_and_reveals_nothing() throws Exception {
        String id = Bank.id("mismatch");
        commands.run(Bank.command(id), String.class, work -> "a secret result");

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id, "{\"amount\":11}"),
                                        String.class,
                                        work -> {
                                            throw new AssertionError("the work ran");
                                        }))
                .isInstanceOf(PayloadMismatchException.class)
                .hasMessageContaining("under a new id")
                .hasMessageContaining("account.deposit")
                .message()
                .doesNotContain(id, "secret");
    }

    @Test
    void a_payload_schema_version_is_part_of_the_payload() throws Exception {
        String id = Bank.id("version");
        Command command = Bank.command(id);
        commands.run(command, String.class, work -> "x");
        Command second =
                Command.of(
                        Bank.SCOPE, id, PayloadHash.ofJson("{\"amount\":10}").withSchemaVersion(2));

        assertThatThrownBy(() -> commands.run(second, String.class, work -> "y"))
                .isInstanceOf(PayloadMismatchException.class);
    }

    @Test
    void a_rejection_undoes_the_work_and_is_replayed() throws Exception {
        String id = Bank.id("rejected");
        var runs = new AtomicInteger();
        CommandWork<String, RuntimeException> work =
                w -> {
                    runs.incrementAndGet();
                    Bank.deposit(w.connection(), "a", id);
                    w.outbox().append(Bank.event(id));
                    throw new CommandRejectedException("LIMIT", "only 5 left");
                };

        assertThatThrownBy(() -> commands.run(Bank.command(id), String.class, work))
                .isInstanceOfSatisfying(
                        CommandRejectedException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo("LIMIT");
                            assertThat(e.detail()).isEqualTo("only 5 left");
                            assertThat(e.replayed()).isFalse();
                        });
        assertThatThrownBy(() -> commands.run(Bank.command(id), String.class, work))
                .isInstanceOfSatisfying(
                        CommandRejectedException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo("LIMIT");
                            assertThat(e.detail()).isEqualTo("only 5 left");
                            assertThat(e.replayed()).isTrue();
                        });

        assertThat(runs).hasValue(1);
        assertThat(Bank.effects(db, id)).isZero();
        assertThat(Bank.events(db, id)).isZero();
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void what_on_rejected_writes_commits_with_the_rejection(Isolation isolation) throws Exception {
        String id = Bank.id("on-rejected");
        RunOptions options =
                at(isolation)
                        .withOnRejected(
                                (connection, outbox, rejection) -> {
                                    Bank.execute(
                                            connection,
                                            "INSERT INTO audit VALUES (?, ?)",
                                            id,
                                            rejection.code());
                                    outbox.append(Bank.event(id));
                                });

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        options,
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            throw new CommandRejectedException("NO", "");
                                        }))
                .isInstanceOf(CommandRejectedException.class);

        assertThat(db.value("SELECT what FROM audit WHERE command = '" + id + "'", String.class))
                .contains("NO");
        assertThat(Bank.effects(db, id)).isEqualTo(1);
        assertThat(Bank.events(db, id)).isEqualTo(1);
    }

    @Test
    void a_failing_on_rejected_rolls_everything_back() throws Exception {
        String id = Bank.id("on-rejected-fails");
        var failure = new IllegalStateException("audit is down");
        RunOptions options =
                RunOptions.standard()
                        .withOnRejected(
                                (connection, outbox, rejection) -> {
                                    throw failure;
                                });

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        options,
                                        work -> {
                                            throw new CommandRejectedException("NO", "");
                                        }))
                .isSameAs(failure);

        assertThat(Bank.rows(db, id)).isZero();
    }

    @Test
    void exceptions_that_the_classifier_names_are_rejections() throws Exception {
        String id = Bank.id("classified");
        var failure = new IOException("closed");
        RunOptions options =
                RunOptions.standard()
                        .withClassifier(
                                e ->
                                        e instanceof IOException
                                                ? Optional.of(new Rejection("CLOSED", "it is"))
                                                : Optional.empty());

        for (boolean replayed : new boolean[] {false, true}) {
            assertThatThrownBy(
                            () ->
                                    commands.run(
                                            Bank.command(id),
                                            String.class,
                                            options,
                                            work -> {
                                                throw failure;
                                            }))
                    .isInstanceOfSatisfying(
                            CommandRejectedException.class,
                            e -> {
                                assertThat(e.code()).isEqualTo("CLOSED");
                                assertThat(e.replayed()).isEqualTo(replayed);
                                assertThat(e.getCause()).isSameAs(replayed ? null : failure);
                            });
        }
    }

    @Test
    void a_constraint_violation_may_be_a_rejection() throws Exception {
        String id = Bank.id("constraint");
        RunOptions options =
                RunOptions.standard()
                        .withClassifier(
                                e ->
                                        e instanceof SQLException
                                                ? Optional.of(new Rejection("TAKEN", ""))
                                                : Optional.empty());

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        options,
                                        work -> {
                                            Bank.execute(
                                                    work.connection(),
                                                    "INSERT INTO account VALUES ('a', 1)");
                                            return "x";
                                        }))
                .isInstanceOf(CommandRejectedException.class);
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @Test
    void without_rejections_a_rejection_leaves_the_id_free() throws Exception {
        String id = Bank.id("without");

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        RunOptions.standard().withoutRejections(),
                                        work -> {
                                            throw new CommandRejectedException("NO", "");
                                        }))
                .isInstanceOf(CommandRejectedException.class);

        assertThat(Bank.rows(db, id)).isZero();
        assertThat(deposit(id).replayed()).isFalse();
    }

    @Test
    void an_expired_command_is_refused_and_a_forgotten_one_is_new() throws Exception {
        String id = Bank.id("expired");
        deposit(id);
        age(id, "expires_at", -1, "forget_at", 3600);

        assertThatThrownBy(() -> deposit(id)).isInstanceOf(CommandExpiredException.class);
        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id, "{\"amount\":11}"),
                                        String.class,
                                        work -> "x"))
                .as("mismatch comes before expired")
                .isInstanceOf(PayloadMismatchException.class);
        assertThat(Bank.effects(db, id)).isEqualTo(1);

        age(id, "expires_at", -2, "forget_at", -1);
        assertThat(commands.run(Bank.command(id, "{\"amount\":12}"), String.class, w -> "again"))
                .isEqualTo(new Outcome<>("again", false));
        assertThat(commands.run(Bank.command(id, "{\"amount\":12}"), String.class, w -> "x"))
                .isEqualTo(new Outcome<>("again", true));
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void an_expired_command_runs_again_if_asked_to(Isolation isolation) throws Exception {
        String id = Bank.id("again");
        deposit(id, at(isolation));
        age(id, "expires_at", -1, "forget_at", 3600);
        Command command = Bank.command(id).againAfterExpiry();

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        command,
                                        String.class,
                                        at(isolation),
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            throw new IOException("not now");
                                        }))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> deposit(id))
                .as("the failed attempt changed nothing")
                .isInstanceOf(CommandExpiredException.class);

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        command,
                                        String.class,
                                        at(isolation),
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            throw new CommandRejectedException("NO", "x");
                                        }))
                .isInstanceOf(CommandRejectedException.class);
        assertThatThrownBy(() -> deposit(id)).isInstanceOf(CommandRejectedException.class);
        age(id, "expires_at", -1, "forget_at", 3600);

        assertThat(commands.run(command, String.class, at(isolation), work -> "two").replayed())
                .isFalse();
        assertThat(deposit(id)).isEqualTo(new Outcome<>("two", true));
        assertThat(Bank.effects(db, id)).isEqualTo(1);
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    /** Moves times of a row to so many seconds from now. */
    protected void age(String id, String column, int seconds, String other, int otherSeconds)
            throws SQLException {
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - INTERVAL '9' DAY, %s = CURRENT_TIMESTAMP + %d * INTERVAL '1' SECOND, %s = CURRENT_TIMESTAMP + %d * INTERVAL '1' SECOND WHERE command_id = '%s'"
                        .formatted(column, seconds, other, otherSeconds, id));
    }

    @Test
    void commands_without_expiry_are_kept_for_ever() throws Exception {
        String id = Bank.id("for-ever");

        commands.run(Bank.command(id).withoutExpiry(), String.class, work -> "x");

        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '"
                                        + id
                                        + "' AND expires_at > CURRENT_TIMESTAMP + INTERVAL '999'"
                                        + " YEAR"))
                .isEqualTo(1);
        assertThat(commands.run(Bank.command(id), String.class, work -> "y").replayed()).isTrue();
    }

    @Test
    void both_expiry_times_are_counted_from_the_start() throws Exception {
        String id = Bank.id("times");

        commands.run(
                Bank.command(id).withTtl(Duration.ofHours(1), Duration.ofHours(2)),
                String.class,
                work -> "x");

        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '"
                                        + id
                                        + "' AND expires_at = started_at + INTERVAL '1' HOUR AND"
                                        + " forget_at = started_at + INTERVAL '3' HOUR AND"
                                        + " finished_at >= started_at"))
                .isEqualTo(1);
    }

    @Test
    void a_result_over_the_limit_rolls_back() throws Exception {
        String id = Bank.id("large");
        OnlyOnce small = OnlyOnce.on(db.pool(2)).withoutExpiry().withResultLimit(100).build();

        assertThatThrownBy(
                        () ->
                                small.commands()
                                        .run(
                                                Bank.command(id),
                                                byte[].class,
                                                work -> {
                                                    Bank.deposit(work.connection(), "a", id);
                                                    return new byte[101];
                                                }))
                .isInstanceOf(ResultTooLargeException.class)
                .hasMessageContaining("101 bytes")
                .hasMessageContaining("limit of 100");

        assertThat(Bank.effects(db, id)).isZero();
        assertThat(small.commands().run(Bank.command(id), byte[].class, w -> new byte[100]))
                .isNotNull();
    }

    @Test
    void random_bytes_are_replayed_exactly() throws Exception {
        var random = new Random(7);
        for (int size : new int[] {0, 1, 255, 70_000, 1 << 20}) {
            byte[] result = new byte[size];
            random.nextBytes(result);
            String id = Bank.id("bytes");

            commands.run(Bank.command(id), byte[].class, work -> result);

            assertThat(commands.run(Bank.command(id), byte[].class, w -> null).value())
                    .isEqualTo(result);
        }
    }

    @Test
    void text_with_nul_and_odd_json_is_replayed_exactly() throws Exception {
        for (String result : List.of("\0", "{\"b\":1,\"a\":1e2,\"a\":1.0}", "\uD83D\uDE00 Ä", "")) {
            String id = Bank.id("text");
            commands.run(Bank.command(id), String.class, work -> result);

            assertThat(commands.run(Bank.command(id), String.class, w -> "x").value())
                    .isEqualTo(result);
        }
    }

    @Test
    void records_times_generics_and_null_are_replayed() throws Exception {
        var receipt = new Receipt("r-1", 1L << 60, Instant.parse("2026-01-02T03:04:05.678901Z"));
        String id = Bank.id("record");
        commands.run(Bank.command(id), Receipt.class, work -> receipt);
        assertThat(commands.run(Bank.command(id), Receipt.class, w -> null).value())
                .isEqualTo(receipt);

        String list = Bank.id("list");
        var type = new ResultType<List<Receipt>>() {};
        commands.run(Bank.command(list), type, work -> List.of(receipt, receipt));
        assertThat(commands.run(Bank.command(list), type, w -> null).value())
                .containsExactly(receipt, receipt);

        String nothing = Bank.id("null");
        commands.run(Bank.command(nothing), Void.class, work -> null);
        assertThat(commands.run(Bank.command(nothing), Void.class, w -> null))
                .isEqualTo(new Outcome<Void>(null, true));
    }

    @Test
    void a_stored_result_that_no_longer_fits_is_never_run_again() throws Exception {
        String id = Bank.id("unreadable");
        commands.run(Bank.command(id), String.class, work -> "text");

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        Receipt.class,
                                        work -> {
                                            throw new AssertionError("the work ran");
                                        }))
                .isInstanceOf(StoredResultUnreadableException.class);
    }

    @Test
    void a_likely_retry_is_answered_from_a_final_row_only() throws Exception {
        String id = Bank.id("likely");
        Command likely = Bank.command(id).likelyRetry();

        assertThat(commands.run(likely, String.class, work -> "one").replayed()).isFalse();
        assertThat(commands.run(likely, String.class, work -> "two"))
                .isEqualTo(new Outcome<>("one", true));
        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id, "{\"amount\":9}").likelyRetry(),
                                        String.class,
                                        work -> "x"))
                .isInstanceOf(PayloadMismatchException.class);
        age(id, "expires_at", -1, "forget_at", 3600);
        assertThatThrownBy(() -> commands.run(likely, String.class, work -> "x"))
                .isInstanceOf(CommandExpiredException.class);
    }

    @Test
    void a_command_in_flight_is_refused_at_once_or_waited_for() throws Exception {
        String id = Bank.id("flight");
        var claimed = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        var winner =
                new Thread(
                        () -> {
                            try {
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        work -> {
                                            claimed.countDown();
                                            assertThat(go.await(30, TimeUnit.SECONDS)).isTrue();
                                            return "won";
                                        });
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        });
        winner.start();
        assertThat(claimed.await(30, TimeUnit.SECONDS)).isTrue();

        assertThatThrownBy(
                        () ->
                                deposit(
                                        id,
                                        RunOptions.standard()
                                                .withInFlight(InFlightPolicy.failFast())))
                .isInstanceOfSatisfying(
                        CommandInFlightException.class,
                        e -> assertThat(e.retryAfter()).isPositive());
        for (InFlightPolicy policy :
                List.of(
                        InFlightPolicy.waitUpTo(Duration.ofMillis(50)),
                        InFlightPolicy.blockUpTo(Duration.ofMillis(50)))) {
            for (Isolation isolation : Isolation.values()) {
                assertThatThrownBy(() -> deposit(id, at(isolation).withInFlight(policy)))
                        .as(policy + " " + isolation)
                        .isInstanceOf(CommandInFlightException.class);
            }
        }

        var patient =
                RunOptions.standard().withInFlight(InFlightPolicy.waitUpTo(Duration.ofSeconds(30)));
        var blocking = InFlightPolicy.blockUpTo(Duration.ofSeconds(30));
        List<Outcome<String>> outcomes =
                Race.of(
                        List.of(
                                () -> deposit(id, patient),
                                () ->
                                        deposit(
                                                id,
                                                at(Isolation.READ_COMMITTED)
                                                        .withInFlight(blocking)),
                                () ->
                                        deposit(
                                                id,
                                                at(Isolation.SERIALIZABLE).withInFlight(blocking)),
                                () -> {
                                    go.countDown();
                                    return deposit(id, patient);
                                }));
        assertThat(outcomes).containsOnly(new Outcome<>("won", true));
        winner.join(30_000);
        assertThat(commands.turns().size()).isZero();
    }

    @Test
    void events_with_one_key_are_one_event_or_refused() throws Exception {
        String id = Bank.id("events");
        commands.run(
                Bank.command(id),
                String.class,
                work -> {
                    work.outbox().append(Bank.event(id));
                    work.outbox().append(Bank.event(id));
                    return "x";
                });
        assertThat(Bank.events(db, id)).isEqualTo(1);

        String same = Bank.id("events-same");
        commands.run(
                Bank.command(same),
                String.class,
                work -> {
                    work.outbox().append(Bank.event(id));
                    return "x";
                });
        assertThat(Bank.events(db, same)).isZero();

        String other = Bank.id("events-other");
        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(other),
                                        String.class,
                                        work -> {
                                            work.outbox()
                                                    .append(
                                                            OutboxEvent.of(
                                                                    "deposited:" + id,
                                                                    "Account",
                                                                    "a",
                                                                    "Deposited",
                                                                    "[]".getBytes()));
                                            return "x";
                                        }))
                .isInstanceOf(EventKeyReusedException.class);
        assertThat(Bank.rows(db, other)).isZero();
        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(other),
                                        String.class,
                                        work -> {
                                            work.outbox().append(Bank.event(id));
                                            work.outbox().append(Bank.event(id).withVersion(2));
                                            return "x";
                                        }))
                .isInstanceOf(EventKeyReusedException.class);
    }

    @Test
    void events_keep_the_order_in_which_they_were_appended() throws Exception {
        String id = Bank.id("order");
        commands.run(
                Bank.command(id),
                String.class,
                work -> {
                    for (int i = 0; i < 50; i++) {
                        work.outbox()
                                .append(
                                        OutboxEvent.of(
                                                        id + ":" + (97 * i % 50),
                                                        "Account",
                                                        "a",
                                                        "Deposited",
                                                        new byte[] {(byte) i})
                                                .withVersion(i)
                                                .withHeader("n", "" + i));
                    }
                    return "x";
                });

        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.outbox_event e JOIN"
                                        + " onlyonce.outbox_event f ON e.seq < f.seq AND"
                                        + " e.aggregate_version < f.aggregate_version WHERE"
                                        + " e.command_id = '"
                                        + id
                                        + "' AND f.command_id = '"
                                        + id
                                        + "'"))
                .isEqualTo(50 * 49 / 2);
    }

    @RepeatedTest(2)
    void each_attempt_starts_with_fresh_work_state() throws Exception {
        String id = Bank.id("attempts");
        var runs = new AtomicInteger();

        var outcome =
                commands.run(
                        Bank.command(id),
                        String.class,
                        work -> {
                            assertThat(work.outbox().events()).isEmpty();
                            work.outbox().append(Bank.event(id));
                            Bank.deposit(work.connection(), "a", id);
                            if (runs.incrementAndGet() < 3) {
                                throw new SQLException("provoked", "40001");
                            }
                            return "x";
                        });

        assertThat(outcome.replayed()).isFalse();
        assertThat(runs).hasValue(3);
        assertThat(Bank.effects(db, id)).isEqualTo(1);
        assertThat(Bank.events(db, id)).isEqualTo(1);
    }
}
