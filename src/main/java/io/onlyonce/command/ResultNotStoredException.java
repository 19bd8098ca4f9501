package io.onlyonce.command;

/**
 * The command was completed, but its result is not stored: an operator settled it without one, or
 * retention dropped it. Nothing ran.
 */
public final class ResultNotStoredException extends CommandException {

    private static final long serialVersionUID = 1L;

    ResultNotStoredException(Command command) {
        super(
                command,
                "it was completed, but its result is no longer stored. Read the current state"
                        + " instead of the result.");
    }
}
