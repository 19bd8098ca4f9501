package io.onlyonce.command;

/**
 * The connection was lost at COMMIT, and asked again the database showed that nothing had been
 * committed; no attempt was left to run the work again. The id is free.
 */
public final class CommandNotCommittedException extends CommandException {

    private static final long serialVersionUID = 1L;

    CommandNotCommittedException(Command command, Throwable cause) {
        super(
                command,
                "the connection was lost at COMMIT and nothing was committed. Send it again under"
                        + " the same id.",
                cause);
    }
}
