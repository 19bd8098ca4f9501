package io.onlyonce.inbox;

/** The message's id was used before with another payload. Nothing was applied. */
public final class MessageIdentityViolationException extends MessageException {

    private static final long serialVersionUID = 1L;

    MessageIdentityViolationException(InboxMessage message) {
        super(
                message,
                "its id was used before with another payload, so nothing was applied. Do not"
                    + " acknowledge it as if it were a duplicate; set it aside and ask its sender.",
                null);
    }
}
