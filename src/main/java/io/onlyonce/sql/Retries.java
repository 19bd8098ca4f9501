package io.onlyonce.sql;

import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.RetryPolicy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The attempts of one call: decides whether another one follows, and waits in between. */
public final class Retries {

    private final RetryPolicy policy;
    private final Deadline deadline;
    private final List<Throwable> failed = new ArrayList<>();

    public Retries(RetryPolicy policy, Deadline deadline) {
        this.policy = policy;
        this.deadline = deadline;
    }

    /**
     * True, after a pause, if the work should run again. False if this failure is the answer; the
     * earlier ones are then attached to it as suppressed. An interrupt ends the waiting and stays
     * set.
     */
    public boolean again(Throwable failure) {
        if (isWorthIt(failure) && spend(failure)) {
            return true;
        }
        failed.stream().filter(earlier -> earlier != failure).forEach(failure::addSuppressed);
        return false;
    }

    /** True, after a pause, if an attempt is left for work that is known to have left nothing. */
    public boolean spend(Throwable failure) {
        if (failed.size() + 1 < policy.attempts() && pause()) {
            failed.add(failure);
            return true;
        }
        return false;
    }

    private static boolean isWorthIt(Throwable failure) {
        return SqlState.isRetryable(failure) && !hasUnknownOutcome(failure);
    }

    /** Also beneath other exceptions: an inner transaction of the work may be durable. */
    private static boolean hasUnknownOutcome(Throwable failure) {
        int depth = 0;
        for (Throwable t = failure; t != null && depth < 100; t = t.getCause(), depth++) {
            if (t instanceof CommitOutcomeUnknownException) {
                return true;
            }
        }
        return false;
    }

    /** Full jitter: callers that collided once spread out instead of meeting again. */
    private boolean pause() {
        long ceiling = policy.backoff(failed.size() + 1).toNanos();
        Duration pause = Duration.ofNanos(ThreadLocalRandom.current().nextLong(ceiling + 1));
        if (deadline.remaining().filter(left -> left.compareTo(pause) <= 0).isPresent()) {
            return false;
        }
        try {
            TimeUnit.NANOSECONDS.sleep(pause.toNanos());
            return !Thread.currentThread().isInterrupted();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
