package io.onlyonce.tx;

import java.time.Duration;
import java.util.Objects;

/**
 * How often a transaction that lost against another one (40001, 40P01) runs again, and the ceilings
 * of the random pauses in between, which double each time.
 *
 * @param attempts how often the work runs at most; 1 never repeats it
 * @param firstBackoff the longest first pause
 * @param maxBackoff the longest pause of all
 */
public record RetryPolicy(int attempts, Duration firstBackoff, Duration maxBackoff) {

    private static final Duration DAY = Duration.ofDays(1);

    /** Refuses what cannot work, with a sentence. */
    public RetryPolicy {
        Objects.requireNonNull(firstBackoff, "firstBackoff");
        Objects.requireNonNull(maxBackoff, "maxBackoff");
        if (attempts < 1) {
            throw new IllegalArgumentException(
                    "attempts must be at least 1; use RetryPolicy.none() to run once.");
        }
        if (firstBackoff.isNegative()
                || maxBackoff.compareTo(firstBackoff) < 0
                || maxBackoff.compareTo(DAY) > 0) {
            throw new IllegalArgumentException(
                    "Backoffs must satisfy 0 <= firstBackoff <= maxBackoff <= one day.");
        }
    }

    /** Five attempts, pauses of up to 5 ms growing to up to 250 ms. */
    public static RetryPolicy standard() {
        return new RetryPolicy(5, Duration.ofMillis(5), Duration.ofMillis(250));
    }

    /** The work runs once; its failure is the answer. */
    public static RetryPolicy none() {
        return new RetryPolicy(1, Duration.ZERO, Duration.ZERO);
    }

    /** The same pauses with another number of attempts. */
    public RetryPolicy withAttempts(int attempts) {
        return new RetryPolicy(attempts, firstBackoff, maxBackoff);
    }

    /** The longest pause after this many failed attempts. */
    public Duration backoff(int failedAttempts) {
        int doublings = Math.min(failedAttempts - 1, 30);
        Duration doubled = firstBackoff.multipliedBy(1L << doublings);
        return doubled.compareTo(maxBackoff) < 0 ? doubled : maxBackoff;
    }
}
