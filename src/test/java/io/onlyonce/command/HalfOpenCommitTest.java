package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.Await;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.RetryPolicy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** The network went silent at COMMIT while the server still has the transaction in hand. */
class HalfOpenCommitTest extends ProxiedBank {

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    @ParameterizedTest
    @CsvSource({
        "READ_COMMITTED, WAIT",
        "READ_COMMITTED, BLOCK",
        "REPEATABLE_READ, FAIL_FAST",
        "SERIALIZABLE, BLOCK"
    })
    void while_the_old_backend_lives_nothing_runs_and_the_deadline_ends_in_unknown(
            Isolation isolation, InFlightPolicy.Kind kind) throws Exception {
        String id = Bank.id("alive");
        RunOptions options =
                with(isolation, ProxiedBank::brief)
                        .withInFlight(new InFlightPolicy(kind, Duration.ofMillis(50)));
        proxy.silenceOn("COMMIT");

        assertThatThrownBy(() -> deposit(id, options))
                .isInstanceOf(CommitOutcomeUnknownException.class);
        assertThatThrownBy(() -> deposit(id, options)).isInstanceOf(CommandInFlightException.class);

        assertThat(runs).hasValue(1);
        assertNothing(id);
        proxy.deliverLate();
        Await.until(DEADLINE, () -> Bank.rows(db, id) == 1, "the late COMMIT arrived");
        assertThat(deposit(id, options)).isEqualTo(new Outcome<>("receipt 1", true));
        assertThat(runs).hasValue(1);
        assertOneEffect(id);
    }

    @ParameterizedTest
    @EnumSource
    void a_commit_that_arrives_late_is_waited_for_and_is_ones_own(Isolation isolation)
            throws Exception {
        String id = Bank.id("late");
        CompletableFuture<Outcome<String>> call = callThatWaits(id, patient(isolation));

        proxy.deliverLate();

        assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo(new Outcome<>("receipt 1", false));
        assertThat(runs).hasValue(1);
        assertOneEffect(id);
    }

    @ParameterizedTest
    @EnumSource
    void an_old_backend_that_rolls_back_lets_the_work_run_again(Isolation isolation)
            throws Exception {
        String id = Bank.id("gone");
        CompletableFuture<Outcome<String>> call = callThatWaits(id, patient(isolation));

        proxy.release();

        assertThat(call.get(10, TimeUnit.SECONDS)).isEqualTo(new Outcome<>("receipt 2", false));
        assertThat(runs).hasValue(2);
        assertOneEffect(id);
    }

    @ParameterizedTest
    @EnumSource
    void without_retries_an_old_backend_that_rolls_back_is_reported(Isolation isolation)
            throws Exception {
        String id = Bank.id("none");
        RunOptions options =
                with(isolation, o -> brief(o).withDeadline(DEADLINE).withRetry(RetryPolicy.none()));
        CompletableFuture<Outcome<String>> call = callThatWaits(id, options);

        proxy.release();

        assertThatThrownBy(() -> call.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(CommandNotCommittedException.class);
        assertThat(runs).hasValue(1);
        assertNothing(id);
    }

    @ParameterizedTest
    @EnumSource
    void an_answer_that_never_comes_is_not_waited_for_longer_than_the_commit_timeout(
            Isolation isolation) throws Exception {
        String id = Bank.id("silent");
        proxy.silenceAnswerOn("COMMIT");

        Outcome<String> outcome = deposit(id, with(isolation, ProxiedBank::brief));

        assertThat(outcome).isEqualTo(new Outcome<>("receipt 1", false));
        assertThat(runs).hasValue(1);
        assertOneEffect(id);
    }

    @Test
    void an_interrupt_while_waiting_ends_in_unknown_and_stays_set() throws Exception {
        String id = Bank.id("interrupted");
        proxy.silenceOn("COMMIT");
        var caller = new CompletableFuture<Boolean>();
        var thread =
                new Thread(
                        () -> {
                            try {
                                deposit(id, patient(Isolation.READ_COMMITTED));
                                caller.complete(false);
                            } catch (CommitOutcomeUnknownException e) {
                                caller.complete(Thread.currentThread().isInterrupted());
                            } catch (Throwable e) {
                                caller.completeExceptionally(e);
                            }
                        });
        thread.start();
        awaitWaiting();

        thread.interrupt();

        assertThat(caller.get(10, TimeUnit.SECONDS)).as("unknown and interrupted").isTrue();
        assertThat(runs).hasValue(1);
    }

    /** A policy for the commands of others; one's own COMMIT is waited for until the deadline. */
    private static RunOptions patient(Isolation isolation) {
        return with(isolation, o -> brief(o).withDeadline(DEADLINE))
                .withInFlight(InFlightPolicy.failFast());
    }

    /** A call whose COMMIT was held back, and which has asked again and was told to wait. */
    private CompletableFuture<Outcome<String>> callThatWaits(String id, RunOptions options)
            throws Exception {
        proxy.silenceOn("COMMIT");
        CompletableFuture<Outcome<String>> call = async(() -> deposit(id, options));
        awaitWaiting();
        return call;
    }

    private void awaitWaiting() throws Exception {
        proxy.awaitFired();
        proxy.resetCounters();
        Await.until(
                DEADLINE,
                () ->
                        proxy.statements().stream().filter(sql -> sql.contains(EVERY_TRIP)).count()
                                >= 3,
                "the claim was asked for again and again");
    }
}
