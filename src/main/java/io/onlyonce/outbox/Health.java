package io.onlyonce.outbox;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How the publisher fared with each bucket. A bucket in a call that failed as a whole rests, and is
 * then offered alone and in halves, until the culprit is alone or everything flows again.
 */
final class Health {

    private static final class State {
        int failures;
        int limit;
        long restUntil;
    }

    private final RelayOptions options;
    private final Map<Integer, State> ailing = new HashMap<>();

    Health(RelayOptions options) {
        this.options = options;
    }

    /** The buckets that may share a call. */
    synchronized List<Integer> healthy(Collection<Integer> owned) {
        return owned.stream().filter(bucket -> !ailing.containsKey(bucket)).toList();
    }

    /** The buckets that are to be offered alone, now. */
    synchronized List<Integer> recovering(Collection<Integer> owned) {
        List<Integer> due = new ArrayList<>();
        for (int bucket : owned) {
            State state = ailing.get(bucket);
            if (state != null && System.nanoTime() - state.restUntil >= 0) {
                due.add(bucket);
            }
        }
        return due;
    }

    /** How many events a call of this bucket alone may carry. */
    synchronized int limit(int bucket) {
        State state = ailing.get(bucket);
        return state == null ? options.batch() : state.limit;
    }

    synchronized void failed(Collection<Integer> buckets, int size) {
        for (int bucket : buckets) {
            State state = ailing.computeIfAbsent(bucket, b -> new State());
            state.failures++;
            state.limit = Math.max(1, size / 2);
            long ceiling = options.backoff(state.failures).toNanos();
            state.restUntil = System.nanoTime() + ThreadLocalRandom.current().nextLong(ceiling + 1);
        }
    }

    /** A lone culprit was put aside: the rest of its bucket may go on at once. */
    synchronized void isolated(int bucket) {
        State state = ailing.get(bucket);
        if (state != null) {
            state.restUntil = System.nanoTime();
        }
    }

    /** Buckets with nothing to offer share the next call again; each alone would cost a trip. */
    synchronized void nothingLeft(Collection<Integer> buckets) {
        ailing.keySet().removeAll(buckets);
    }

    synchronized void succeeded(Collection<Integer> buckets) {
        for (int bucket : buckets) {
            State state = ailing.get(bucket);
            if (state != null) {
                state.failures = 0;
                state.limit *= 4;
                state.restUntil = System.nanoTime();
                if (state.limit >= options.batch()) {
                    ailing.remove(bucket);
                }
            }
        }
    }
}
