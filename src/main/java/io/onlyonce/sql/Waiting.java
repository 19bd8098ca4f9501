package io.onlyonce.sql;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The waiting of one call for what is in flight, without a connection. */
final class Waiting {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(4);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(128);

    private final Turns turns;
    private final long key;
    private final Duration bound;
    private final Deadline deadline;
    private Duration pause = FIRST_PAUSE;
    private @Nullable Deadline patience;
    private Turns.@Nullable Seat seat;

    Waiting(Turns turns, long key, Duration bound, Deadline deadline) {
        this.turns = turns;
        this.key = key;
        this.bound = bound;
        this.deadline = deadline;
    }

    /**
     * True, after a pause, if it is time to ask again. False if the bound, or with {@code
     * untilDeadline} only the deadline, has passed, or the thread was interrupted, which stays so.
     */
    boolean again(boolean untilDeadline) {
        if (patience == null) {
            patience = Deadline.after(bound);
        }
        Duration left = left(deadline);
        if (!untilDeadline && left(patience).compareTo(left) < 0) {
            left = left(patience);
        }
        if (left.isZero()) {
            return false;
        }
        if (seat == null) {
            seat = turns.join(key);
        }
        try {
            if (!seat.take(left)) {
                return false;
            }
            if (!seat.isAnswered()) {
                pause(left);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Full jitter, doubling; the last pause ends at the bound, so that one question comes then. */
    private void pause(Duration left) throws InterruptedException {
        long ceiling = Math.min(pause.toNanos(), left.toNanos());
        TimeUnit.NANOSECONDS.sleep(ThreadLocalRandom.current().nextLong(ceiling + 1));
        if (pause.compareTo(LONGEST_PAUSE) < 0) {
            pause = pause.multipliedBy(2);
        }
    }

    private static Duration left(Deadline deadline) {
        return deadline.remaining().orElse(Duration.ofDays(1));
    }

    /** Lets the others of this process go on. */
    void end(boolean answered) {
        if (seat != null) {
            seat.leave(answered);
        }
    }
}
