package io.onlyonce.inbox;

import java.time.Duration;

/** What became of a message. */
public sealed interface InboxAnswer {

    /** True if the broker may be told that the message is done with. */
    default boolean isDone() {
        return this instanceof Processed || this instanceof Duplicate;
    }

    /** The work ran and is durable. */
    record Processed() implements InboxAnswer {}

    /** It was processed before, with the same payload; nothing ran. */
    record Duplicate() implements InboxAnswer {}

    /**
     * Another transaction is processing it; nothing ran.
     *
     * @param retryAfter when it is worth asking again
     */
    record InFlight(Duration retryAfter) implements InboxAnswer {}

    /**
     * Nothing of it is durable, unless the cause says that this is unknown; it may be delivered
     * again.
     *
     * @param cause what the work threw, or what kept it from running
     */
    record Failed(Throwable cause) implements InboxAnswer {}

    /** Its id was used before with another payload; nothing ran, and a person should look. */
    record IdentityViolation() implements InboxAnswer {}

    /**
     * An earlier version of its aggregate is missing; everything is rolled back.
     *
     * @param expected the version that has to come first
     */
    record Deferred(long expected) implements InboxAnswer {}

    /** An earlier message with its ordering key failed; nothing ran. */
    record Skipped() implements InboxAnswer {}
}
