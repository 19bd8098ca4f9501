package io.onlyonce.sql;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Of the callers in this process that wait for one thing, one asks the database; the others wait
 * for it, without a connection, until it has an answer or gives up.
 */
public final class Turns {

    private final ConcurrentHashMap<Long, Queue> queues = new ConcurrentHashMap<>();

    /** The callers of one command that met it in flight. */
    private static final class Queue {
        private static final int EVERYBODY = 1 << 20;

        private final Semaphore turn = new Semaphore(1);
        private int callers;
        private volatile boolean answered;

        synchronized void answer() {
            if (!answered) {
                answered = true;
                turn.release(EVERYBODY);
            }
        }
    }

    Seat join(long key) {
        Queue joined =
                queues.compute(
                        key,
                        (k, queue) -> {
                            Queue mine = queue == null ? new Queue() : queue;
                            mine.callers++;
                            return mine;
                        });
        return new Seat(key, joined);
    }

    /** For tests: how many commands are waited for. */
    public int size() {
        return queues.size();
    }

    /** One caller's place in the queue of its command. */
    final class Seat {

        private final long key;
        private final Queue queue;
        private boolean asking;

        private Seat(long key, Queue queue) {
            this.key = key;
            this.queue = queue;
        }

        /** Waits until it is this caller's turn to ask; false if that took too long. */
        boolean take(Duration bound) throws InterruptedException {
            if (!asking) {
                asking = queue.turn.tryAcquire(bound.toNanos(), TimeUnit.NANOSECONDS);
            }
            return asking;
        }

        /** True if somebody has seen the command's answer since this caller began to wait. */
        boolean isAnswered() {
            return queue.answered;
        }

        /** Lets everybody ask at once if the command was answered, or else the next in turn. */
        void leave(boolean answered) {
            if (answered) {
                queues.remove(key, queue); // who comes from now on begins anew
                queue.answer();
            } else if (asking) {
                queue.turn.release();
            }
            queues.computeIfPresent(
                    key,
                    (k, current) -> current == queue && --current.callers == 0 ? null : current);
        }
    }
}
