package io.onlyonce.command;

/** The result is no longer replayed, and the id not yet free. Nothing ran. */
public final class CommandExpiredException extends CommandException {

    private static final long serialVersionUID = 1L;

    CommandExpiredException(Command command) {
        super(
                command,
                "its id has expired and is not accepted again yet. Send a new intent under a new"
                        + " id.");
    }
}
