package io.onlyonce.command;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;

import java.sql.SQLException;

/** A bank with one account, and commands that deposit to it. */
abstract class CommandGround extends DatabaseContract {

    OnlyOnce once;
    CommandRunner commands;

    CommandGround(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('a', 0)");
        once = Bank.once(db.pool(16));
        commands = once.commands();
    }

    static RunOptions at(Isolation isolation) {
        return RunOptions.standard()
                .withTransaction(TransactionOptions.readCommitted().withIsolation(isolation));
    }

    Outcome<String> deposit(String id, RunOptions options) throws SQLException {
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

    Outcome<String> deposit(String id) throws SQLException {
        return deposit(id, RunOptions.standard());
    }

    /** Moves times of a row to so many seconds from now. */
    void age(String id, String column, int seconds, String other, int otherSeconds)
            throws SQLException {
        db.execute(
                """
                UPDATE onlyonce.command_dedup
                SET started_at = started_at - INTERVAL '9' DAY,
                    %s = CURRENT_TIMESTAMP + %d * INTERVAL '1' SECOND,
                    %s = CURRENT_TIMESTAMP + %d * INTERVAL '1' SECOND
                WHERE command_id = '%s'
                """
                        .formatted(column, seconds, other, otherSeconds, id));
    }
}
