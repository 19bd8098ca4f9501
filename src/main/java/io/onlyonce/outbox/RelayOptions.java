package io.onlyonce.outbox;

import java.time.Duration;

/**
 * How a relay works. Immutable; every {@code with} makes a copy.
 *
 * @param lease how long a bucket stays with a relay that is not heard of
 * @param publishTimeout how long one call of the publisher may take; shorter than the lease
 * @param batch how many events one call carries at most
 * @param poll how often the database is asked when nothing wakes the relay; a third of the lease,
 *     when a started relay renews it, if that is shorter
 * @param attempts how often an event may fail before it is a dead letter
 * @param firstBackoff the longest pause after an event's first failure; it doubles each time
 * @param maxBackoff the longest pause of all
 * @param othersWait whether later events of an aggregate wait for one that failed
 * @param listens whether it listens for commits of other processes
 */
public record RelayOptions(
        Duration lease,
        Duration publishTimeout,
        int batch,
        Duration poll,
        int attempts,
        Duration firstBackoff,
        Duration maxBackoff,
        boolean othersWait,
        boolean listens) {

    /** Refuses what cannot work, with a sentence. */
    public RelayOptions {
        positive(lease, "lease");
        positive(publishTimeout, "publishTimeout");
        positive(poll, "poll");
        positive(firstBackoff, "firstBackoff");
        if (publishTimeout.compareTo(lease.dividedBy(2)) > 0) {
            throw new IllegalArgumentException(
                    "publishTimeout must be at most half of the lease, or a slow call would outlive"
                            + " it and be published twice.");
        }
        if (batch < 1 || batch > 10_000) {
            throw new IllegalArgumentException("batch must be between 1 and 10,000.");
        }
        if (attempts < 1 || attempts > 1_000) {
            throw new IllegalArgumentException("attempts must be between 1 and 1,000.");
        }
        if (maxBackoff.compareTo(firstBackoff) < 0
                || maxBackoff.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(
                    "maxBackoff must be between firstBackoff and one day.");
        }
    }

    /**
     * A lease of 30 s, 10 s for a call, 500 events, polls every 500 ms, 10 attempts with pauses of
     * 200 ms growing to 5 minutes; later events of an aggregate wait.
     */
    public static RelayOptions standard() {
        return new RelayOptions(
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                500,
                Duration.ofMillis(500),
                10,
                Duration.ofMillis(200),
                Duration.ofMinutes(5),
                true,
                false);
    }

    /** How long a bucket stays with a silent relay, and how long a call may take. */
    public RelayOptions withLease(Duration lease, Duration publishTimeout) {
        return new RelayOptions(
                lease,
                publishTimeout,
                batch,
                poll,
                attempts,
                firstBackoff,
                maxBackoff,
                othersWait,
                listens);
    }

    /** How many events one call carries at most. */
    public RelayOptions withBatch(int batch) {
        return new RelayOptions(
                lease,
                publishTimeout,
                batch,
                poll,
                attempts,
                firstBackoff,
                maxBackoff,
                othersWait,
                listens);
    }

    /** How often the database is asked when nothing wakes the relay. */
    public RelayOptions withPoll(Duration poll) {
        return new RelayOptions(
                lease,
                publishTimeout,
                batch,
                poll,
                attempts,
                firstBackoff,
                maxBackoff,
                othersWait,
                listens);
    }

    /** When a failing event is tried again, and when it is given up. */
    public RelayOptions withAttempts(int attempts, Duration firstBackoff, Duration maxBackoff) {
        return new RelayOptions(
                lease,
                publishTimeout,
                batch,
                poll,
                attempts,
                firstBackoff,
                maxBackoff,
                othersWait,
                listens);
    }

    /**
     * Later events of an aggregate pass one that failed, so its order is given up for its progress.
     */
    public RelayOptions othersPass() {
        return new RelayOptions(
                lease,
                publishTimeout,
                batch,
                poll,
                attempts,
                firstBackoff,
                maxBackoff,
                false,
                listens);
    }

    /**
     * Listens, on a connection of its own that it keeps, for commits of other processes that notify
     * ({@code OnlyOnce.on(…).withNotify()}); PostgreSQL only, and not through a pooler in
     * transaction mode. It polls all the same, so a lost notification costs time and nothing else.
     */
    public RelayOptions listening() {
        return new RelayOptions(
                lease,
                publishTimeout,
                batch,
                poll,
                attempts,
                firstBackoff,
                maxBackoff,
                othersWait,
                true);
    }

    /** The longest pause after so many failures. */
    Duration backoff(int failures) {
        int doublings = Math.min(Math.max(failures - 1, 0), 30);
        Duration doubled = firstBackoff.multipliedBy(1L << doublings);
        return doubled.compareTo(maxBackoff) < 0 ? doubled : maxBackoff;
    }

    private static void positive(Duration duration, String name) {
        if (duration.compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException(name + " must be at least one millisecond.");
        }
    }
}
