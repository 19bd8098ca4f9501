package io.onlyonce.command;

/**
 * The transaction that completes the command no longer holds its claim: it was undone to a
 * savepoint, belongs to an earlier transaction, or is settled already. Nothing was stored; roll
 * back.
 */
public final class ClaimLostException extends CommandException {

    private static final long serialVersionUID = 1L;

    ClaimLostException(Command command) {
        super(
                command,
                "this transaction does not hold the claim (any more), so nothing was stored. Roll"
                        + " back; claim, work and complete in one transaction, without undoing the"
                        + " claim to a savepoint.");
    }
}
