package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionEndedByWorkException;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.sql.SQLException;
import java.util.stream.Stream;

/** Work that says COMMIT or ROLLBACK in SQL text, where no guard can see it, is refused. */
class EndedByWorkTest extends DatabaseContract {

    private CommandRunner commands;

    EndedByWorkTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        commands = Bank.once(db.pool(2)).commands();
    }

    /** What the work does after it has ended the transaction. */
    enum Then {
        RETURNS,
        REJECTS,
        REJECTS_WITH_A_HANDLER
    }

    static Stream<Arguments> endsAtLevels() {
        return Stream.of("COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK; BEGIN")
                .flatMap(
                        end ->
                                Stream.of(Isolation.values())
                                        .flatMap(
                                                level ->
                                                        Stream.of(Then.values())
                                                                .map(
                                                                        then ->
                                                                                Arguments.of(
                                                                                        end, level,
                                                                                        then))));
    }

    @ParameterizedTest
    @MethodSource("endsAtLevels")
    void work_that_ends_the_transaction_is_refused_and_has_no_answer_stored(
            String end, Isolation isolation, Then then) throws Exception {
        String id = Bank.id("ended");
        RunOptions options =
                RunOptions.standard()
                        .withTransaction(
                                TransactionOptions.readCommitted().withIsolation(isolation));

        assertThatThrownBy(() -> runEnding(commands, id, options, end, then))
                .isInstanceOf(TransactionEndedByWorkException.class);

        assertThat(Bank.effects(db, id)).as("written after the end").isZero();
        if (end.startsWith("COMMIT") && isolation != Isolation.READ_COMMITTED) {
            // Above READ COMMITTED the claim is a row, which the work has committed without an end.
            assertThatThrownBy(() -> run(id, options))
                    .isInstanceOf(CommandOutcomeUnknownException.class);
        } else {
            assertThat(Bank.rows(db, id)).isZero();
            assertThat(run(id, options)).isEqualTo(new Outcome<>("free", false));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REJECTS", "REJECTS_WITH_A_HANDLER"})
    void on_h2_a_no_after_the_end_is_refused_too(Then then) throws Exception {
        try (var h2 = TestDatabase.h2()) {
            Bank.open(h2);
            CommandRunner runner = Bank.once(h2.pool(2)).commands();

            assertThatThrownBy(
                            () -> runEnding(runner, "h2", RunOptions.standard(), "ROLLBACK", then))
                    .isInstanceOf(TransactionEndedByWorkException.class);

            assertThat(Bank.effects(h2, "h2")).isZero();
            assertThat(Bank.rows(h2, "h2")).isZero();
        }
    }

    private static void runEnding(
            CommandRunner runner, String id, RunOptions options, String end, Then then)
            throws SQLException {
        RunOptions handled =
                then == Then.REJECTS_WITH_A_HANDLER
                        ? options.withOnRejected(
                                (c, outbox, no) ->
                                        Bank.execute(c, "INSERT INTO audit VALUES (?, 'no')", id))
                        : options;
        runner.run(
                Bank.command(id),
                String.class,
                handled,
                work -> {
                    Bank.execute(work.connection(), end);
                    Bank.deposit(work.connection(), "a", id);
                    if (then == Then.RETURNS) {
                        return "all is well";
                    }
                    throw new CommandRejectedException("limit", "too much");
                });
    }

    private Outcome<String> run(String id, RunOptions options) throws SQLException {
        return commands.run(Bank.command(id), String.class, options, work -> "free");
    }
}
