package io.onlyonce.observe;

/**
 * One message and what became of it.
 *
 * @param source who sent it
 */
public record ObservedMessage(String consumer, String tenant, String source, Decision decision) {

    /** What became of it. */
    public enum Decision {
        /** The work ran and is durable. */
        PROCESSED,
        /** It was processed before. */
        DUPLICATE,
        /** Somebody else is at it. */
        IN_FLIGHT,
        /** Its id stands for another payload. */
        VIOLATION,
        /** An earlier version of its aggregate is missing. */
        DEFERRED,
        /** An earlier message with its ordering key failed. */
        SKIPPED,
        /** An exception ended it. */
        FAILED
    }
}
