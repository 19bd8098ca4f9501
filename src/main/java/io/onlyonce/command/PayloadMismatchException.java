package io.onlyonce.command;

/** The id was used before for another payload. Nothing ran, and nothing stored is revealed. */
public final class PayloadMismatchException extends CommandException {

    private static final long serialVersionUID = 1L;

    PayloadMismatchException(Command command) {
        super(
                command,
                "its id was used before with another payload, so nothing was done. Send a new"
                        + " intent under a new id.");
    }
}
