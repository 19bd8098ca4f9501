package io.onlyonce.inbox;

import io.onlyonce.outbox.EventBuffer;

import java.sql.Connection;

/** What the work for a message has at hand; fresh in every attempt. */
public final class Incoming {

    private final Connection connection;
    private final InboxMessage message;
    private final EventBuffer outbox = new EventBuffer();

    Incoming(Connection connection, InboxMessage message) {
        this.connection = connection;
        this.message = message;
    }

    /** The transaction: all SQL of the work goes here, and none of it ends the transaction. */
    public Connection connection() {
        return connection;
    }

    /** The message to process. */
    public InboxMessage message() {
        return message;
    }

    /** Events of the message's tenant, to publish if, and only if, the work commits. */
    public EventBuffer outbox() {
        return outbox;
    }
}
