package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.Race;
import io.onlyonce.outbox.EventKeyReusedException;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What running a command promises on every database. */
abstract class CommandRunnerContract extends CommandGround {

    CommandRunnerContract(Opening opening) {
        super(opening);
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
