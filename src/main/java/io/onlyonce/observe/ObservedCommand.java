package io.onlyonce.observe;

import io.onlyonce.command.CommandScope;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One command and what became of it.
 *
 * @param claim how long the trip took that decided; empty if none did
 * @param run how long the whole call took; empty on the low road, where the caller owns the time
 * @param retries how often the work ran again
 * @param unknownCommits how often the answer to a COMMIT was lost, resolved or not
 * @param resultBytes the size of the result that was stored just now
 * @param resultUnreadable true if it was completed before and its result cannot be given back: it
 *     does not decode, its key is missing, or it is not stored any more
 */
public record ObservedCommand(
        CommandScope scope,
        Decision decision,
        Optional<Duration> claim,
        Optional<Duration> run,
        int retries,
        int unknownCommits,
        OptionalInt resultBytes,
        boolean resultUnreadable) {

    /** What became of it. */
    public enum Decision {
        /** The work ran and is durable. */
        STARTED,
        /** A stored result was given back. */
        REPLAYED,
        /** It was rejected, just now or before. */
        REJECTED,
        /** Its id stands for another payload. */
        MISMATCH,
        /** It is running elsewhere. */
        IN_FLIGHT,
        /** Its result is no longer replayed. */
        EXPIRED,
        /** Nobody can tell what became of it: unresolved, or a COMMIT without an answer. */
        UNKNOWN,
        /** An exception ended it, and nothing of it is durable. */
        FAILED
    }
}
