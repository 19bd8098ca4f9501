package io.onlyonce.inbox;

/**
 * The transaction that marks the message no longer holds its claim: it was undone to a savepoint,
 * belongs to an earlier transaction, or is marked already. Nothing was stored; roll back.
 */
public final class MessageClaimLostException extends MessageException {

    private static final long serialVersionUID = 1L;

    MessageClaimLostException(InboxMessage message) {
        super(
                message,
                "this transaction does not hold the claim (any more), so nothing was stored. Roll"
                        + " back; claim, work and mark in one transaction.",
                null);
    }
}
