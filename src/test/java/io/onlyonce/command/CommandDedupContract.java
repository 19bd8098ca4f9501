package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Levels;
import io.onlyonce.payload.ResultType;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionRequiredException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;

/** What the low road promises on every database, inside transactions of the caller's own. */
abstract class CommandDedupContract extends DatabaseContract {

    protected OnlyOnce once;
    protected CommandDedup dedup;

    CommandDedupContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('a', 0)");
        once = Bank.once(db.pool(8));
        dedup = once.dedup();
    }

    protected Connection begin() throws SQLException {
        return begin(Isolation.READ_COMMITTED);
    }

    protected Connection begin(Isolation isolation) throws SQLException {
        Connection connection = db.connect();
        connection.setTransactionIsolation(Levels.jdbc(isolation));
        connection.setAutoCommit(false);
        return connection;
    }

    protected Claim.Started started(Connection connection, String id) throws SQLException {
        Claim claim = dedup.tryStart(connection, Bank.command(id));
        assertThat(claim).isInstanceOf(Claim.Started.class);
        return (Claim.Started) claim;
    }

    /** Leaves a committed claim that nobody completed. */
    protected void abandon(String id) throws SQLException {
        try (Connection connection = begin()) {
            started(connection, id);
            connection.commit();
        }
    }

    protected Claim ask(String id) throws SQLException {
        try (Connection connection = begin()) {
            Claim claim = dedup.tryStart(connection, Bank.command(id));
            connection.rollback();
            return claim;
        }
    }

    @ParameterizedTest
    @EnumSource
    void claim_work_and_completion_commit_with_the_callers_transaction(Isolation isolation)
            throws Exception {
        String id = Bank.id("low");
        try (Connection connection = begin(isolation)) {
            Bank.execute(connection, "INSERT INTO audit VALUES (?, 'before')", id);
            Claim.Started started = started(connection, id);
            Bank.deposit(connection, "a", id);
            dedup.complete(connection, started, "done");
            connection.commit();
        }

        assertThat(ask(id))
                .isInstanceOfSatisfying(
                        Claim.Replayed.class,
                        replayed -> assertThat(replayed.value(String.class)).isEqualTo("done"));
        assertThat(once.commands().run(Bank.command(id), String.class, work -> "x"))
                .isEqualTo(new Outcome<>("done", true));
        assertThat(Bank.effects(db, id)).isEqualTo(2);
    }

    @Test
    void a_rollback_leaves_the_id_free() throws Exception {
        String id = Bank.id("low-rollback");
        try (Connection connection = begin()) {
            dedup.complete(connection, started(connection, id), "done");
            connection.rollback();
        }

        assertThat(ask(id)).isInstanceOf(Claim.Started.class);
        assertThat(Bank.rows(db, id)).isZero();
    }

    @Test
    void the_second_claim_of_a_transaction_is_in_flight() throws Exception {
        String id = Bank.id("twice");
        try (Connection connection = begin()) {
            Claim.Started first = started(connection, id);
            assertThat(dedup.tryStart(connection, Bank.command(id)))
                    .isInstanceOf(Claim.InFlight.class);
            dedup.complete(connection, first, "done");
            assertThat(dedup.tryStart(connection, Bank.command(id)))
                    .isInstanceOf(Claim.Replayed.class);
            connection.commit();
        }
    }

    @ParameterizedTest
    @EnumSource
    void both_roads_exclude_each_other(Isolation isolation) throws Exception {
        String id = Bank.id("roads");
        try (Connection connection = begin(isolation)) {
            started(connection, id);
            assertThatThrownBy(
                            () ->
                                    once.commands()
                                            .run(
                                                    Bank.command(id),
                                                    String.class,
                                                    RunOptions.standard()
                                                            .withInFlight(
                                                                    InFlightPolicy.failFast()),
                                                    work -> "x"))
                    .isInstanceOf(CommandInFlightException.class);
            connection.rollback();
        }
        once.commands()
                .run(
                        Bank.command(id),
                        String.class,
                        work -> {
                            assertThat(ask(id)).isInstanceOf(Claim.InFlight.class);
                            return "x";
                        });
    }

    @Test
    void a_commit_without_completion_is_unknown_until_resolved() throws Exception {
        String id = Bank.id("unknown");
        abandon(id);

        assertThat(ask(id)).isInstanceOf(Claim.OutcomeUnknown.class);
        assertThatThrownBy(() -> once.commands().run(Bank.command(id), String.class, work -> "x"))
                .isInstanceOf(CommandOutcomeUnknownException.class)
                .hasMessageContaining("resolve");
        assertThatThrownBy(
                        () ->
                                once.commands()
                                        .run(
                                                Bank.command(id, "{\"amount\":1}"),
                                                String.class,
                                                work -> "x"))
                .as("mismatch comes first")
                .isInstanceOf(PayloadMismatchException.class);

        resolve(id, Resolution.completed("found"));
        assertThat(once.commands().run(Bank.command(id), String.class, work -> "x"))
                .isEqualTo(new Outcome<>("found", true));
        assertThat(find(id).state()).isEqualTo(CommandInfo.State.RESOLVED);
        assertThat(find(id).resolvedBy()).contains("ops");
        assertThat(find(id).resolvedWhy()).contains("looked it up");
        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '"
                                        + id
                                        + "' AND expires_at > CURRENT_TIMESTAMP + INTERVAL '6' DAY"
                                        + " AND forget_at > expires_at + INTERVAL '6' DAY"))
                .isEqualTo(1);
    }

    @Test
    void a_command_resolved_without_result_says_so_when_replayed() throws Exception {
        String id = Bank.id("no-result");
        abandon(id);
        resolve(id, Resolution.completedWithoutResult());

        assertThatThrownBy(() -> once.commands().run(Bank.command(id), String.class, work -> "x"))
                .isInstanceOf(ResultNotStoredException.class)
                .hasMessageContaining("current state");
    }

    @Test
    void a_released_command_is_free_and_leaves_a_trace() throws Exception {
        String id = Bank.id("released");
        abandon(id);
        resolve(id, Resolution.released());

        assertThat(once.commands().run(Bank.command(id), String.class, work -> "ran").replayed())
                .isFalse();
        assertThat(
                        db.value(
                                "SELECT resolved_why FROM onlyonce.command_archive WHERE command_id"
                                        + " = '"
                                        + id
                                        + "'",
                                String.class))
                .contains("looked it up");
    }

    @Test
    void only_a_committed_claim_without_completion_can_be_resolved() throws Exception {
        String completed = Bank.id("resolve-completed");
        once.commands().run(Bank.command(completed), String.class, work -> "x");
        String running = Bank.id("resolve-running");
        try (Connection connection = begin()) {
            started(connection, running);
            for (String id : List.of(completed, running, Bank.id("resolve-nowhere"))) {
                for (Resolution resolution :
                        List.of(
                                Resolution.completed("y"),
                                Resolution.completedWithoutResult(),
                                Resolution.released())) {
                    assertThatThrownBy(() -> resolve(id, resolution))
                            .isInstanceOf(NothingToResolveException.class)
                            .message()
                            .doesNotContain(id);
                }
            }
            assertThatThrownBy(
                            () ->
                                    dedup.resolve(
                                            connection,
                                            Bank.SCOPE,
                                            running,
                                            Resolution.released(),
                                            "ops",
                                            "x"))
                    .as("its own claim is not abandoned")
                    .isInstanceOf(NothingToResolveException.class);
        }
        assertThat(ask(completed)).isInstanceOf(Claim.Replayed.class);
    }

    private void resolve(String id, Resolution resolution) throws SQLException {
        try (Connection connection = begin()) {
            dedup.resolve(connection, Bank.SCOPE, id, resolution, "ops", "looked it up");
            connection.commit();
        }
    }

    @Test
    void a_claim_undone_to_a_savepoint_completes_nothing() throws Exception {
        String id = Bank.id("savepoint");
        try (Connection connection = begin()) {
            Bank.execute(connection, "INSERT INTO audit VALUES (?, 'other work')", id);
            Savepoint before = connection.setSavepoint();
            Claim.Started stale = started(connection, id);
            connection.rollback(before);

            assertThatThrownBy(() -> dedup.complete(connection, stale, "stale"))
                    .isInstanceOf(ClaimLostException.class);
            connection.rollback();
        }
        assertThat(Bank.rows(db, id)).isZero();
    }

    @Test
    void a_claim_undone_to_a_savepoint_cannot_complete_what_another_caller_did() throws Exception {
        String id = Bank.id("savepoint-other");
        try (Connection connection = begin()) {
            Bank.execute(connection, "INSERT INTO audit VALUES (?, 'other work')", id);
            Savepoint before = connection.setSavepoint();
            Claim.Started stale = started(connection, id);
            connection.rollback(before);
            once.commands().run(Bank.command(id), String.class, work -> "theirs");

            assertThatThrownBy(() -> dedup.complete(connection, stale, "stale"))
                    .isInstanceOf(ClaimLostException.class);
            connection.rollback();
        }
        assertThat(once.commands().run(Bank.command(id), String.class, work -> "x").value())
                .isEqualTo("theirs");
    }

    @Test
    void a_claim_survives_savepoints_of_the_work() throws Exception {
        String id = Bank.id("savepoint-inner");
        try (Connection connection = begin()) {
            connection.setSavepoint();
            Claim.Started started = started(connection, id);
            Savepoint inner = connection.setSavepoint();
            Bank.deposit(connection, "a", id);
            connection.rollback(inner);
            Savepoint released = connection.setSavepoint();
            Bank.deposit(connection, "a", id);
            connection.releaseSavepoint(released);
            connection.setSavepoint();
            dedup.complete(connection, started, "done");
            connection.commit();
        }
        assertThat(ask(id)).isInstanceOf(Claim.Replayed.class);
        assertThat(Bank.effects(db, id)).isEqualTo(1);
    }

    @Test
    void a_claim_used_in_a_later_transaction_completes_nothing() throws Exception {
        for (boolean commit : new boolean[] {true, false}) {
            String id = Bank.id("later-" + commit);
            try (Connection connection = begin()) {
                Claim.Started stale = started(connection, id);
                if (commit) {
                    connection.commit();
                } else {
                    connection.rollback();
                }
                Bank.execute(connection, "INSERT INTO audit VALUES (?, 'later')", id);

                assertThatThrownBy(() -> dedup.complete(connection, stale, "stale"))
                        .isInstanceOf(ClaimLostException.class);
                connection.rollback();
            }
            assertThat(ask(id))
                    .isInstanceOf(commit ? Claim.OutcomeUnknown.class : Claim.Started.class);
        }
    }

    @Test
    void a_claim_completed_twice_is_refused() throws Exception {
        String id = Bank.id("completed-twice");
        try (Connection connection = begin()) {
            Claim.Started started = started(connection, id);
            dedup.complete(connection, started, "one");

            assertThatThrownBy(() -> dedup.complete(connection, started, "two"))
                    .isInstanceOf(ClaimLostException.class);
            connection.rollback();
        }
    }

    @Test
    void a_rejection_of_the_low_road_is_replayed() throws Exception {
        String id = Bank.id("low-rejected");
        try (Connection connection = begin()) {
            dedup.reject(connection, started(connection, id), new Rejection("NO", "because"));
            connection.commit();
        }
        assertThat(ask(id)).isEqualTo(new Claim.Rejected(new Rejection("NO", "because")));
        assertThat(find(id).state()).isEqualTo(CommandInfo.State.REJECTED);
        assertThat(find(id).rejectionCode()).contains("NO");
    }

    @Test
    void mismatch_and_expiry_are_answered_like_on_the_high_road() throws Exception {
        String id = Bank.id("low-answers");
        once.commands().run(Bank.command(id), String.class, work -> "x");
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - INTERVAL '9' DAY,"
                        + " expires_at = CURRENT_TIMESTAMP - INTERVAL '1' SECOND WHERE command_id ="
                        + " '"
                        + id
                        + "'");
        try (Connection connection = begin()) {
            assertThat(dedup.tryStart(connection, Bank.command(id, "[]")))
                    .isInstanceOf(Claim.PayloadMismatch.class);
            assertThat(dedup.tryStart(connection, Bank.command(id)))
                    .isInstanceOf(Claim.Expired.class);
            Claim again = dedup.tryStart(connection, Bank.command(id, "[]").againAfterExpiry());
            assertThat(again).isInstanceOf(Claim.Started.class);
            dedup.complete(
                    connection,
                    (Claim.Started) again,
                    List.of("a", "b"),
                    new ResultType<List<String>>() {});
            connection.commit();
        }
        assertThat(find(id).state()).isEqualTo(CommandInfo.State.COMPLETED);
        assertThat(
                        once.commands()
                                .run(
                                        Bank.command(id, "[]"),
                                        new ResultType<List<String>>() {},
                                        work -> null)
                                .value())
                .containsExactly("a", "b");
    }

    @Test
    void a_connection_in_autocommit_mode_is_refused() throws Exception {
        String id = Bank.id("autocommit");
        try (Connection connection = db.connect()) {
            assertThatThrownBy(() -> dedup.tryStart(connection, Bank.command(id)))
                    .isInstanceOf(TransactionRequiredException.class)
                    .hasMessageContaining("setAutoCommit(false)");
        }
        assertThat(Bank.rows(db, id)).isZero();
    }

    @Test
    void find_tells_where_a_command_stands() throws Exception {
        String id = Bank.id("find");
        assertThat(find(id).state()).isEqualTo(CommandInfo.State.NOT_FOUND);
        once.commands()
                .run(
                        Bank.command(id).about("Account", "a"),
                        String.class,
                        work -> {
                            assertThat(find(id).state()).isEqualTo(CommandInfo.State.IN_FLIGHT);
                            return "x";
                        });
        CommandInfo completed = find(id);
        assertThat(completed.state()).isEqualTo(CommandInfo.State.COMPLETED);
        assertThat(completed.resourceType()).contains("Account");
        assertThat(completed.resourceId()).contains("a");
        assertThat(completed.startedAt()).isPresent();
        assertThat(completed.finishedAt().orElseThrow())
                .isAfterOrEqualTo(completed.startedAt().orElseThrow());
        assertThat(completed.expiresAt()).isPresent();

        String unresolved = Bank.id("find-unresolved");
        abandon(unresolved);
        assertThat(find(unresolved).state()).isEqualTo(CommandInfo.State.UNRESOLVED);
        assertThat(find(unresolved).finishedAt()).isEmpty();
        String forEver = Bank.id("find-for-ever");
        once.commands().run(Bank.command(forEver).withoutExpiry(), String.class, work -> "x");
        assertThat(find(forEver).expiresAt()).isEmpty();
    }

    @Test
    void find_in_a_claiming_transaction_says_in_flight() throws Exception {
        String id = Bank.id("find-own");
        try (Connection connection = begin()) {
            started(connection, id);
            assertThat(dedup.find(connection, Bank.SCOPE, id).state())
                    .isEqualTo(CommandInfo.State.IN_FLIGHT);
        }
    }

    protected CommandInfo find(String id) throws SQLException {
        try (Connection connection = db.connect()) {
            return dedup.find(connection, Bank.SCOPE, id);
        }
    }
}
