package io.onlyonce.command;

import io.onlyonce.outbox.EventBuffer;

import java.sql.Connection;

/** What the work of a command has at hand; fresh in every attempt. */
public final class Work {

    private final Connection connection;
    private final Command command;
    private final EventBuffer outbox = new EventBuffer();

    Work(Connection connection, Command command) {
        this.connection = connection;
        this.command = command;
    }

    /** The transaction: all SQL of the work goes here, and none of it ends the transaction. */
    public Connection connection() {
        return connection;
    }

    /** The command that runs. */
    public Command command() {
        return command;
    }

    /** Events to publish if, and only if, the work commits. */
    public EventBuffer outbox() {
        return outbox;
    }
}
