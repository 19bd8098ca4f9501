package io.onlyonce.ground;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/** Waits for a condition, never for a time. */
public final class Await {

    private static final long PARK_NANOS = Duration.ofMillis(5).toNanos();

    private Await() {}

    /** Something that becomes true. */
    @FunctionalInterface
    public interface Condition {
        boolean holds() throws Exception;
    }

    /**
     * Returns as soon as the condition holds, and fails with a sentence if it does not within the
     * deadline.
     *
     * <p>The condition is asked at least once, and once more after the deadline has passed. What it
     * throws ends the wait.
     *
     * @param what completes "waited 5s in vain until …"
     */
    public static void until(Duration deadline, Condition condition, String what) throws Exception {
        long end = System.nanoTime() + deadline.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("waited " + say(deadline) + " in vain until " + what);
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting until " + what);
            }
            LockSupport.parkNanos(PARK_NANOS);
        }
    }

    /** A duration as people write it: "1m30s", "0.25s". */
    static String say(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }
}
