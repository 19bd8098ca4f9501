package io.onlyonce.http;

import io.onlyonce.command.Command;
import io.onlyonce.outbox.EventBuffer;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.util.Optional;

/** What the handler of a request has at hand; fresh in every attempt. */
public final class HttpWork {

    private final RequestParts request;
    private final Connection connection;
    private final EventBuffer outbox;
    private final @Nullable Command command;

    HttpWork(
            RequestParts request,
            Connection connection,
            EventBuffer outbox,
            @Nullable Command command) {
        this.request = request;
        this.connection = connection;
        this.outbox = outbox;
        this.command = command;
    }

    /** The request. */
    public RequestParts request() {
        return request;
    }

    /** The transaction: all SQL of the handler goes here, and none of it ends the transaction. */
    public Connection connection() {
        return connection;
    }

    /** Events to publish if, and only if, the handler's writes are committed. */
    public EventBuffer outbox() {
        return outbox;
    }

    /** The command that runs; empty if the request has no key and the operation lets it through. */
    public Optional<Command> command() {
        return Optional.ofNullable(command);
    }
}
