package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRunner;
import io.onlyonce.command.RunOptions;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;

import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

/** The library, as a user would call it: hash, run, one event, a JSON result. */
final class Ours implements Variant {

    private final CommandRunner commands;
    private final RunOptions options;

    Ours(DataSource pool, RunOptions options) throws SQLException {
        this.commands = OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).build().commands();
        this.options = options;
    }

    private Ours(CommandRunner commands, RunOptions options) {
        this.commands = commands;
        this.options = options;
    }

    /** The same runner with other options. */
    Ours with(RunOptions other) {
        return new Ours(commands, other);
    }

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        byte[] payload = Business.payload(account);
        var command = Command.of(Business.SCOPE, id, PayloadHash.ofJson(payload));
        commands.run(
                command,
                Business.Receipt.class,
                options,
                work -> {
                    Business.post(work.connection(), id, account);
                    work.outbox()
                            .append(
                                    OutboxEvent.of(
                                            "deposited:" + id,
                                            "Account",
                                            String.valueOf(account),
                                            "Deposited",
                                            payload));
                    inside.run();
                    return new Business.Receipt(id, account, 10);
                });
    }
}
