package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.SwallowedSqlErrorException;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Work whose transaction is broken never ends as success, and binds the id to nothing. */
class BrokenWorkTest extends DatabaseContract {

    private final AtomicInteger runs = new AtomicInteger();
    private CommandRunner commands;

    BrokenWorkTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        Trouble.prepare(db);
        db.execute("CREATE TABLE parent (id text PRIMARY KEY)");
        db.execute(
                "CREATE TABLE child (parent text REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
        commands = Bank.once(db.pool(2)).commands();
    }

    @BeforeEach
    void count() {
        runs.set(0);
    }

    static Stream<Arguments> errorsAtLevels() {
        return Stream.of(
                        Trouble.UNIQUE_VIOLATION,
                        Trouble.RAISED_BY_A_PROCEDURE,
                        Trouble.STATEMENT_TIMEOUT,
                        Trouble.DEADLOCK)
                .flatMap(t -> Stream.of(Isolation.values()).map(i -> Arguments.of(t, i)));
    }

    @ParameterizedTest
    @MethodSource("errorsAtLevels")
    void a_swallowed_sql_error_never_ends_as_success(Trouble trouble, Isolation isolation)
            throws Exception {
        String id = Bank.id("swallowed");

        assertThatThrownBy(
                        () ->
                                run(
                                        id,
                                        isolation,
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            trouble.meet(work.connection(), db);
                                            return "all is well";
                                        }))
                .isInstanceOf(SwallowedSqlErrorException.class)
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class,
                        e -> assertThat(e.getSQLState()).isEqualTo(trouble.state));

        assertFree(id, isolation);
    }

    @ParameterizedTest
    @EnumSource
    void an_error_undone_to_a_savepoint_of_the_works_own_is_not_swallowed(Isolation isolation)
            throws Exception {
        String id = Bank.id("undone");

        Outcome<String> outcome =
                run(
                        id,
                        isolation,
                        work -> {
                            Bank.deposit(work.connection(), "a", id);
                            Savepoint mine = work.connection().setSavepoint();
                            Trouble.UNIQUE_VIOLATION.meet(work.connection(), db);
                            work.connection().rollback(mine);
                            return "all is well";
                        });

        assertThat(outcome).isEqualTo(new Outcome<>("all is well", false));
        assertThat(Bank.effects(db, id)).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void a_swallowed_loss_of_the_connection_never_ends_as_success(Isolation isolation)
            throws Exception {
        String id = Bank.id("lost");

        assertThatThrownBy(
                        () ->
                                run(
                                        id,
                                        isolation,
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            Trouble.LOST_CONNECTION.meet(work.connection(), db);
                                            return "all is well";
                                        }))
                .isInstanceOf(SQLException.class);

        assertFree(id, isolation);
    }

    @ParameterizedTest
    @EnumSource
    void a_deferred_constraint_that_fails_at_commit_is_the_users_error(Isolation isolation)
            throws Exception {
        String id = Bank.id("deferred");

        assertThatThrownBy(
                        () ->
                                run(
                                        id,
                                        isolation,
                                        RetryPolicy.standard(),
                                        work -> {
                                            runs.incrementAndGet();
                                            Bank.deposit(work.connection(), "a", id);
                                            Bank.execute(
                                                    work.connection(),
                                                    "INSERT INTO child VALUES (?)",
                                                    id);
                                            return "all is well";
                                        }))
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23503"));

        assertThat(runs).hasValue(1);
        assertThat(db.count("SELECT count(*) FROM child")).isZero();
        assertFree(id, isolation);
    }

    private void assertFree(String id, Isolation isolation) throws Exception {
        assertThat(Bank.effects(db, id)).isZero();
        assertThat(Bank.rows(db, id)).isZero();
        assertThat(run(id, isolation, work -> "free")).isEqualTo(new Outcome<>("free", false));
    }

    private <X extends Exception> Outcome<String> run(
            String id, Isolation isolation, CommandWork<String, X> work) throws X, SQLException {
        return run(id, isolation, RetryPolicy.none(), work);
    }

    /** With a classifier that takes every exception of the work for a rejection. */
    private <X extends Exception> Outcome<String> run(
            String id, Isolation isolation, RetryPolicy retry, CommandWork<String, X> work)
            throws X, SQLException {
        var transaction =
                TransactionOptions.readCommitted().withIsolation(isolation).withRetry(retry);
        return commands.run(
                Bank.command(id),
                String.class,
                RunOptions.standard()
                        .withTransaction(transaction)
                        .withClassifier(e -> Optional.of(new Rejection("any", ""))),
                work);
    }
}
