package io.onlyonce.command;

/** The encoded result is larger than the limit; everything was rolled back before COMMIT. */
public final class ResultTooLargeException extends CommandException {

    private static final long serialVersionUID = 1L;

    ResultTooLargeException(Command command, int bytes, int limit) {
        super(
                command,
                "its result has %d bytes, more than the limit of %d, so everything was rolled back."
                                .formatted(bytes, limit)
                        + " Return a reference instead, or raise the limit with"
                        + " OnlyOnce.on(…).withResultLimit(…).");
    }
}
