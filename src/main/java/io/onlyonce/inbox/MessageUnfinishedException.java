package io.onlyonce.inbox;

/**
 * A transaction committed its claim of this message and never marked it as processed, so nobody can
 * tell whether its effects are durable.
 */
public final class MessageUnfinishedException extends MessageException {

    private static final long serialVersionUID = 1L;

    MessageUnfinishedException(InboxMessage message) {
        super(
                message,
                "its claim was committed without markProcessed, so its effects may or may not be"
                    + " there. Find out, then call Inbox.settle or Inbox.release; until then it is"
                    + " neither processed nor run again.",
                null);
    }
}
