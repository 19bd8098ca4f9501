package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.Fault;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.RetryPolicy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** A COMMIT of ours whose answer did not arrive is looked into, not reported. */
class UnknownCommitTest extends ProxiedBank {

    private static final String WAITING =
            """
            SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()\
            """;

    @ParameterizedTest
    @EnumSource
    void a_lost_request_runs_the_work_again_and_leaves_one_effect(Isolation isolation)
            throws Exception {
        String id = Bank.id("request");
        proxy.cutRequest("COMMIT");

        Outcome<String> outcome = deposit(id, at(isolation));

        proxy.awaitFired();
        assertThat(outcome).isEqualTo(new Outcome<>("receipt 2", false));
        assertThat(deposit(id, at(isolation))).isEqualTo(new Outcome<>("receipt 2", true));
        assertThat(runs).hasValue(2);
        assertOneEffect(id);
    }

    @ParameterizedTest
    @EnumSource
    void a_lost_answer_gives_the_result_as_ones_own_without_a_second_run(Isolation isolation)
            throws Exception {
        String id = Bank.id("answer");
        proxy.cutAnswer("COMMIT");

        Outcome<String> outcome = deposit(id, at(isolation));

        proxy.awaitFired();
        assertThat(outcome).isEqualTo(new Outcome<>("receipt 1", false));
        assertThat(deposit(id, at(isolation))).isEqualTo(new Outcome<>("receipt 1", true));
        assertThat(runs).hasValue(1);
        assertOneEffect(id);
    }

    @ParameterizedTest
    @EnumSource
    void requests_lost_again_and_again_use_up_the_attempts_and_leave_the_id_free(
            Isolation isolation) throws Exception {
        String id = Bank.id("attempts");
        RunOptions options =
                with(isolation, o -> o.withRetry(RetryPolicy.standard().withAttempts(3)));
        proxy.arm(Fault.CUT_REQUEST, "COMMIT", 3);

        assertThatThrownBy(() -> deposit(id, options))
                .isInstanceOf(CommandNotCommittedException.class)
                .hasCauseInstanceOf(CommitOutcomeUnknownException.class);

        proxy.awaitFired();
        assertThat(runs).hasValue(3);
        assertNothing(id);
        assertThat(deposit(id, options)).isEqualTo(new Outcome<>("receipt 4", false));
    }

    @ParameterizedTest
    @EnumSource
    void without_retries_a_lost_answer_is_resolved_and_a_lost_request_reported(Isolation isolation)
            throws Exception {
        String kept = Bank.id("kept");
        String lost = Bank.id("lost");
        RunOptions options = with(isolation, o -> o.withRetry(RetryPolicy.none()));

        proxy.cutAnswer("COMMIT");
        assertThat(deposit(kept, options)).isEqualTo(new Outcome<>("receipt 1", false));
        proxy.awaitFired();
        proxy.cutRequest("COMMIT");
        assertThatThrownBy(() -> deposit(lost, options))
                .isInstanceOf(CommandNotCommittedException.class);
        proxy.awaitFired();

        assertThat(runs).hasValue(2);
        assertOneEffect(kept);
        assertNothing(lost);
    }

    /** Its row may have been purged by then, so that its absence proves nothing. */
    @ParameterizedTest
    @EnumSource
    void what_may_have_been_forgotten_since_its_commit_stays_unknown_and_is_not_run_again(
            Isolation isolation) throws Exception {
        for (RetryPolicy retry : List.of(RetryPolicy.standard(), RetryPolicy.none())) {
            String id = Bank.id("forgotten");
            Command command = Bank.command(id).withTtl(Duration.ofMillis(1), Duration.ZERO);
            runs.set(0);
            proxy.cutAnswer("COMMIT");

            assertThatThrownBy(
                            () ->
                                    commands.run(
                                            command,
                                            String.class,
                                            with(isolation, o -> o.withRetry(retry)),
                                            work -> {
                                                Bank.execute(
                                                        work.connection(), "SELECT pg_sleep(0.01)");
                                                return depositNow(work, id);
                                            }))
                    .isInstanceOf(CommitOutcomeUnknownException.class);

            proxy.awaitFired();
            assertThat(runs).hasValue(1);
            assertOneEffect(id);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_lost_answer_to_a_rejection_gives_the_same_rejection(Isolation isolation)
            throws Exception {
        for (Fault fault : List.of(Fault.CUT_ANSWER, Fault.CUT_REQUEST)) {
            String id = Bank.id("rejected");
            RunOptions options =
                    at(isolation)
                            .withOnRejected(
                                    (c, outbox, no) -> {
                                        Bank.execute(c, "INSERT INTO audit VALUES (?, 'no')", id);
                                        outbox.append(CrashingChild.event(id, "rejection"));
                                    });
            runs.set(0);
            proxy.arm(fault, "COMMIT", 1);

            CommandRejectedException first = rejection(id, options);
            proxy.awaitFired();
            CommandRejectedException second = rejection(id, options);

            assertThat(runs).hasValue(fault == Fault.CUT_ANSWER ? 1 : 2);
            assertThat(List.of(first, second))
                    .allMatch(no -> no.code().equals("limit") && no.detail().equals("too much"));
            assertThat(first.replayed()).isFalse();
            assertThat(second.replayed()).isTrue();
            assertOneEffect(id);
        }
    }

    private CommandRejectedException rejection(String id, RunOptions options) {
        return catchThrowableOfType(
                CommandRejectedException.class,
                () ->
                        commands.run(
                                Bank.command(id),
                                String.class,
                                options,
                                work -> {
                                    depositNow(work, id);
                                    throw new CommandRejectedException("limit", "too much");
                                }));
    }

    @Test
    void a_successor_that_took_over_after_a_lost_request_is_replayed() throws Exception {
        String id = Bank.id("successor");
        CommandRunner others = Bank.once(db.pool(1)).commands();
        var successor = new AtomicReference<CompletableFuture<Outcome<String>>>();
        RunOptions blocking =
                at(Isolation.READ_COMMITTED)
                        .withInFlight(InFlightPolicy.blockUpTo(Duration.ofSeconds(10)));
        proxy.cutRequest("COMMIT");

        Outcome<String> outcome =
                commands.run(
                        Bank.command(id),
                        String.class,
                        at(Isolation.READ_COMMITTED),
                        work -> {
                            successor.set(
                                    async(
                                            () ->
                                                    others.run(
                                                            Bank.command(id),
                                                            String.class,
                                                            blocking,
                                                            other -> depositNow(other, id))));
                            Await.until(
                                    Duration.ofSeconds(10),
                                    () -> db.count(WAITING) == 1,
                                    "the successor waited for the lock");
                            return depositNow(work, id);
                        });

        assertThat(outcome).isEqualTo(new Outcome<>("receipt 2", true));
        assertThat(successor.get().get(10, TimeUnit.SECONDS))
                .isEqualTo(new Outcome<>("receipt 2", false));
        assertOneEffect(id);
    }
}
