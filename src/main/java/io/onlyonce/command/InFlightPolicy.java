package io.onlyonce.command;

import java.time.Duration;
import java.util.Objects;

/**
 * What {@code run} does when another transaction is running the same command.
 *
 * @param kind how it waits
 * @param bound how long at most; the deadline of the run may end it earlier
 */
public record InFlightPolicy(Kind kind, Duration bound) {

    /** Ways to wait. */
    public enum Kind {
        /** Not at all. */
        FAIL_FAST,
        /** By asking again, without a connection in between. */
        WAIT,
        /** In the database's lock queue, holding a connection. */
        BLOCK
    }

    /** Refuses bounds below zero. */
    public InFlightPolicy {
        Objects.requireNonNull(kind, "kind");
        if (Objects.requireNonNull(bound, "bound").isNegative()) {
            throw new IllegalArgumentException(
                    "The bound must not be negative; use failFast() not to wait.");
        }
    }

    /** {@link CommandInFlightException} at once. */
    public static InFlightPolicy failFast() {
        return new InFlightPolicy(Kind.FAIL_FAST, Duration.ZERO);
    }

    /**
     * Asks again for so long, with growing random pauses in which no connection is held. Of the
     * callers of one process that wait for the same command, one asks.
     */
    public static InFlightPolicy waitUpTo(Duration bound) {
        return new InFlightPolicy(Kind.WAIT, bound);
    }

    /**
     * Waits in the database for so long: answered soonest, but each waiter holds a connection. On
     * H2 the same as {@link #waitUpTo}.
     */
    public static InFlightPolicy blockUpTo(Duration bound) {
        if (bound.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException("The bound must be at least one millisecond.");
        }
        return new InFlightPolicy(Kind.BLOCK, bound);
    }
}
