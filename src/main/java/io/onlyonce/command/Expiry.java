package io.onlyonce.command;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;

/**
 * When a result is no longer replayed, and when the id is forgotten, both in microseconds after the
 * start; null for never.
 */
record Expiry(@Nullable Long expiresMicros, @Nullable Long forgetMicros) {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    static final Expiry NEVER = new Expiry(null, null);

    /** The default at build decides; no stated one is that short. */
    static final Expiry UNSTATED = new Expiry(0L, 0L);

    static Expiry after(Duration ttl, Duration refusedFor) {
        check(ttl, "ttl");
        if (Objects.requireNonNull(refusedFor, "refusedFor").isNegative()) {
            throw new IllegalArgumentException("refusedFor must not be negative.");
        }
        Duration forget = ttl.plus(refusedFor);
        check(forget, "ttl + refusedFor");
        return new Expiry(micros(ttl), micros(forget));
    }

    private static void check(Duration duration, String what) {
        if (Objects.requireNonNull(duration, what).compareTo(Duration.ofMillis(1)) < 0
                || duration.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    what
                            + " must be between a millisecond and a century; use withoutExpiry() to"
                            + " keep a result for ever.");
        }
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }
}
