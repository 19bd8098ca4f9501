package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

/** A "no" is stored only if no error that another attempt may not meet had a part in it. */
class RejectionSafetyTest extends DatabaseContract {

    private final AtomicInteger runs = new AtomicInteger();
    private CommandRunner commands;

    RejectionSafetyTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        Trouble.prepare(db);
        commands = Bank.once(db.pool(2)).commands();
    }

    /** What a work does with an error before it says no. */
    enum Manner {
        SWALLOWED,
        AS_CAUSE,
        SWALLOWED_AFTER_ITS_SAVEPOINT,
        AS_CAUSE_AFTER_ITS_SAVEPOINT;

        boolean hasSavepoint() {
            return this == SWALLOWED_AFTER_ITS_SAVEPOINT || this == AS_CAUSE_AFTER_ITS_SAVEPOINT;
        }

        RuntimeException no(SQLException error) {
            return this == AS_CAUSE || this == AS_CAUSE_AFTER_ITS_SAVEPOINT
                    ? new Refusal(error)
                    : new CommandRejectedException("limit", "too much");
        }
    }

    /** An exception of the user's own, which the classifier takes for a rejection. */
    static final class Refusal extends RuntimeException {
        Refusal(Throwable cause) {
            super(cause);
        }
    }

    static Stream<Arguments> cases() {
        Isolation[] levels = Isolation.values();
        return Stream.of(Trouble.values())
                .flatMap(
                        t ->
                                Stream.of(Manner.values())
                                        .map(
                                                m ->
                                                        Arguments.of(
                                                                t,
                                                                m,
                                                                levels[
                                                                        (t.ordinal() + m.ordinal())
                                                                                % levels.length])));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void a_no_is_stored_after_an_error_about_the_input_and_after_no_other(
            Trouble trouble, Manner manner, Isolation isolation) throws Exception {
        String id = Bank.id("no");
        var thrown = new AtomicReference<RuntimeException>();
        CommandWork<String, Exception> work =
                context -> {
                    runs.incrementAndGet();
                    Bank.deposit(context.connection(), "a", id);
                    thrown.set(manner.no(meet(context.connection(), trouble, manner)));
                    throw thrown.get();
                };
        runs.set(0);

        Throwable first = catchThrowable(() -> run(id, isolation, work));

        assertThat(runs).hasValue(1);
        assertThat(Bank.effects(db, id)).isZero();
        if (trouble.isAboutTheInput()) {
            assertThat(first).isInstanceOf(CommandRejectedException.class);
            assertThatThrownBy(() -> run(id, isolation, work))
                    .isInstanceOfSatisfying(
                            CommandRejectedException.class,
                            no -> assertThat(no.replayed()).isTrue());
            assertThat(runs).as("not run again").hasValue(1);
        } else {
            if (thrown.get() instanceof CommandRejectedException) {
                assertThat(first)
                        .as("nobody is told of a no that is not stored")
                        .isInstanceOf(SQLException.class)
                        .hasSuppressedException(thrown.get());
            } else {
                assertThat(first).isSameAs(thrown.get());
            }
            assertThat(Bank.rows(db, id)).as("rows").isZero();
            assertThat(run(id, isolation, context -> "free"))
                    .isEqualTo(new Outcome<>("free", false));
        }
    }

    /** Meets the error, undone to a savepoint of the work's own if it has one and still can. */
    private SQLException meet(Connection connection, Trouble trouble, Manner manner)
            throws Exception {
        if (!manner.hasSavepoint()) {
            return trouble.meet(connection, db);
        }
        Savepoint mine = connection.setSavepoint("mine");
        SQLException error = trouble.meet(connection, db);
        try {
            connection.rollback(mine);
        } catch (SQLException e) {
            assertThat(trouble).isEqualTo(Trouble.LOST_CONNECTION);
        }
        return error;
    }

    @Test
    void a_no_caused_by_another_databases_timeout_is_not_stored() throws Exception {
        String id = Bank.id("elsewhere");

        assertThatThrownBy(
                        () ->
                                run(
                                        id,
                                        Isolation.READ_COMMITTED,
                                        work -> {
                                            try (Connection other = db.connect()) {
                                                other.setAutoCommit(false);
                                                throw new Refusal(
                                                        Trouble.STATEMENT_TIMEOUT.meet(other, db));
                                            }
                                        }))
                .isInstanceOf(Refusal.class);

        assertThat(Bank.rows(db, id)).isZero();
    }

    @Test
    void a_deadlock_behind_a_no_runs_the_work_again() throws Exception {
        String id = Bank.id("again");
        runs.set(0);

        Outcome<String> outcome =
                commands.run(
                        Bank.command(id),
                        String.class,
                        options(Isolation.READ_COMMITTED, RetryPolicy.standard()),
                        work -> {
                            if (runs.incrementAndGet() == 1) {
                                throw new Refusal(Trouble.DEADLOCK.meet(work.connection(), db));
                            }
                            return "at the second attempt";
                        });

        assertThat(outcome).isEqualTo(new Outcome<>("at the second attempt", false));
    }

    private <X extends Exception> Outcome<String> run(
            String id, Isolation isolation, CommandWork<String, X> work) throws X, SQLException {
        return commands.run(
                Bank.command(id), String.class, options(isolation, RetryPolicy.none()), work);
    }

    private static RunOptions options(Isolation isolation, RetryPolicy retry) {
        return RunOptions.standard()
                .withTransaction(
                        TransactionOptions.readCommitted()
                                .withIsolation(isolation)
                                .withRetry(retry))
                .withClassifier(
                        failure ->
                                failure instanceof Refusal
                                        ? Optional.of(new Rejection("refused", ""))
                                        : Optional.empty());
    }
}
