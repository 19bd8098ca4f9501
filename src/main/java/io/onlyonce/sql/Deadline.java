package io.onlyonce.sql;

import java.time.Duration;
import java.util.Optional;

/** A point in this process's monotonic time after which nothing new is started. */
public final class Deadline {

    private static final Deadline NEVER = new Deadline(0, true);

    private final long atNanos;
    private final boolean never;

    private Deadline(long atNanos, boolean never) {
        this.atNanos = atNanos;
        this.never = never;
    }

    public static Deadline after(Duration duration) {
        return new Deadline(System.nanoTime() + nanos(duration), false);
    }

    public static Deadline after(Optional<Duration> duration) {
        return duration.map(Deadline::after).orElse(NEVER);
    }

    public boolean passed() {
        return !never && atNanos - System.nanoTime() <= 0;
    }

    /** What is left, zero if it has passed; empty if there is no deadline. */
    public Optional<Duration> remaining() {
        return never
                ? Optional.empty()
                : Optional.of(Duration.ofNanos(Math.max(0, atNanos - System.nanoTime())));
    }

    /** A century is for ever, and adding it to nanoTime cannot overflow into the past. */
    private static long nanos(Duration duration) {
        Duration century = Duration.ofDays(36_500);
        return (duration.compareTo(century) < 0 ? duration : century).toNanos();
    }
}
