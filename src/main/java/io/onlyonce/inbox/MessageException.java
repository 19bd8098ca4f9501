package io.onlyonce.inbox;

import io.onlyonce.OnlyOnceException;

import org.jspecify.annotations.Nullable;

/** What is wrong with one message. Its text names the source and a short hash only. */
public abstract class MessageException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable InboxMessage message;

    MessageException(InboxMessage message, String text, @Nullable Throwable cause) {
        super(message + ": " + text, cause);
        this.message = message;
    }

    /** The message; null after this exception was serialized. */
    public @Nullable InboxMessage message() {
        return message;
    }
}
