package io.onlyonce.inbox;

import java.time.Duration;

/** The database's answer to the question who processes a message. */
public sealed interface InboxClaim {

    /**
     * The caller processes it, in this transaction, and then marks it as processed in it. Rolled
     * back, also to an earlier savepoint, the claim is gone.
     */
    final class Started implements InboxClaim {

        private final InboxRow row;

        Started(InboxRow row) {
            this.row = row;
        }

        /** What was claimed. */
        public InboxMessage message() {
            return row.message();
        }

        InboxRow row() {
            return row;
        }
    }

    /** It was processed before, with the same payload: acknowledge it, and do nothing. */
    record Duplicate() implements InboxClaim {}

    /**
     * Another transaction is processing it: do nothing, and do not acknowledge it.
     *
     * @param retryAfter when it is worth asking again
     */
    record InFlight(Duration retryAfter) implements InboxClaim {}
}
