package io.onlyonce.command;

import java.time.Duration;

/** Another transaction is running the command. Nothing ran in this call; ask again later. */
public final class CommandInFlightException extends CommandException {

    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    CommandInFlightException(Command command, Duration retryAfter) {
        super(command, "it is in flight elsewhere. Send it again, unchanged, a little later.");
        this.retryAfter = retryAfter;
    }

    /** When to ask again. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
