package io.onlyonce.inbox;

/** The COMMIT came to nothing, and the retry policy leaves no attempt; nothing is durable. */
public final class MessageNotCommittedException extends MessageException {

    private static final long serialVersionUID = 1L;

    MessageNotCommittedException(InboxMessage message, Throwable cause) {
        super(
                message,
                "the answer to COMMIT was lost and nothing was committed. Let it be delivered"
                        + " again.",
                cause);
    }
}
