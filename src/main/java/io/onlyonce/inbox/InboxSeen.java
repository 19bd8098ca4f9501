package io.onlyonce.inbox;

import org.jspecify.annotations.Nullable;

/**
 * What the claim statement answered about one message; {@link #decide} is the one place where it
 * becomes a decision.
 *
 * @param state what is to be done
 * @param mark proves the transaction that stored the row, or the one that claimed it just now
 */
record InboxSeen(State state, Object mark) {

    static final int STARTED = 0;
    static final int PROCESSED = 1;

    enum State {
        STARTED,
        DUPLICATE,
        IN_FLIGHT,
        VIOLATION,
        UNFINISHED
    }

    /**
     * A row of {@code inbox_message} as a claim sees it.
     *
     * @param own true if this very transaction wrote it
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Stored(
            int status,
            int hashVersion,
            @Nullable String keyId,
            byte[] hash,
            Object receivedAt,
            boolean own) {}

    /**
     * The order is part of the promise: mismatch first, then what is stored.
     *
     * @param held true if this transaction holds the message's lock
     * @param inserted true if it also inserted the message's row
     * @param stored the row that was there, if any could be seen
     */
    static InboxSeen decide(
            InboxRow row, boolean held, boolean inserted, Object mark, @Nullable Stored stored) {
        if (inserted) {
            return new InboxSeen(State.STARTED, mark);
        }
        boolean isUnfinished = stored != null && stored.status() == STARTED;
        if (stored == null || (isUnfinished && (stored.own() || !held))) {
            return new InboxSeen(State.IN_FLIGHT, mark);
        }
        if (!row.matching().matches(stored.hashVersion(), stored.keyId(), stored.hash())) {
            return new InboxSeen(State.VIOLATION, mark);
        }
        return new InboxSeen(
                isUnfinished ? State.UNFINISHED : State.DUPLICATE, stored.receivedAt());
    }
}
