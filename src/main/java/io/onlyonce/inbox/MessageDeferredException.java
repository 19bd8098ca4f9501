package io.onlyonce.inbox;

import io.onlyonce.OnlyOnceException;

/**
 * Thrown by a work that cannot go on before an earlier version of the aggregate was applied, where
 * it keeps versions in a table of its own. Everything is rolled back and the answer is {@link
 * InboxAnswer.Deferred}.
 */
public final class MessageDeferredException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final long expected;

    /** The version that has to come first. */
    public MessageDeferredException(long expected) {
        super("Version " + expected + " has to be applied first; everything is rolled back.");
        this.expected = expected;
    }

    /** The version that has to come first. */
    public long expected() {
        return expected;
    }
}
