package io.onlyonce.demo.story;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits for a condition, never longer than half a minute. */
final class Waiting {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    interface Condition {
        boolean holds() throws SQLException;
    }

    private Waiting() {}

    static void until(String what, Condition condition) throws SQLException {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException("Waited 30 s in vain until " + what + ".");
            }
            LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
        }
    }
}
