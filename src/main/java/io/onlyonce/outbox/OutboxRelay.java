package io.onlyonce.outbox;

import io.onlyonce.sql.RelaySetup;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Moves committed events to a publisher: each at least once, in order per aggregate, by any number
 * of relays in any number of processes.
 *
 * <p>Order: if the transaction of one event had committed before another event of the same
 * aggregate was appended, it is first delivered before it. No transaction is open and no lock held
 * while the publisher works. Either {@link #start} it, which runs a daemon thread, or call {@link
 * #runOnce} from a scheduler of your own. Thread-safe.
 */
public final class OutboxRelay implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(OutboxRelay.class);
    private static final Duration CLOSE = Duration.ofSeconds(10);

    private final RelayWork work;
    private final RelayOptions options;
    private final Semaphore wake = new Semaphore(0);
    private final ReentrantLock turn = new ReentrantLock();
    private volatile boolean stopping;
    private volatile boolean paused;
    private Thread thread = new Thread(() -> {});

    private final Optional<Listener> listener;

    private OutboxRelay(
            RelaySetup setup, OutboxMode mode, EventPublisher publisher, RelayOptions options) {
        work = new RelayWork(setup, mode, publisher, options, () -> paused || stopping);
        this.options = options;
        listener =
                options.listens()
                        ? Optional.of(new Listener(setup, options.poll(), this::wake))
                        : Optional.empty();
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a RelaySetup
    public static OutboxRelay of(
            RelaySetup setup, OutboxMode mode, EventPublisher publisher, RelayOptions options) {
        if (mode == OutboxMode.CDC) {
            throw new IllegalStateException(
                    "In CDC mode events are written as published and read from the log; no relay"
                            + " runs.");
        }
        return new OutboxRelay(setup, mode, publisher, options);
    }

    /** Starts the daemon thread; does nothing if it runs already. */
    public synchronized void start() {
        if (stopping) {
            throw new IllegalStateException("The relay was stopped; make a new one.");
        }
        if (!thread.isAlive()) {
            thread = new Thread(this::loop, "onlyonce-relay");
            thread.setDaemon(true);
            thread.start();
            listener.ifPresent(Listener::start);
        }
    }

    /**
     * Begins no more calls of the publisher until {@link #resume}; one that is under way goes on.
     * The buckets go to other relays.
     */
    public void pause() {
        paused = true;
        wake();
    }

    /** Goes on after {@link #pause}, or after the relay has paused itself. */
    public void resume() {
        paused = false;
        wake();
    }

    /** True if it was paused, by the user or by itself. */
    public boolean isPaused() {
        return paused;
    }

    /** True once {@link #stop} was called. */
    public boolean isStopped() {
        return stopping;
    }

    /** Looks for events now instead of at the next poll; returns at once. */
    public void wake() {
        if (wake.availablePermits() == 0) {
            wake.release();
        }
    }

    /**
     * One round: keeps the leases and offers what is ready, once. For schedulers; a round of the
     * relay's own thread is waited for.
     *
     * @return how many events moved on or were put aside; 0 if there is nothing more to do now
     */
    public int runOnce() throws SQLException, InterruptedException {
        try {
            return round();
        } finally {
            work.report();
        }
    }

    private int round() throws SQLException, InterruptedException {
        turn.lockInterruptibly();
        try {
            if (paused || stopping) {
                return 0;
            }
            int moved = work.round();
            if (work.isOverrun()) {
                pauseItself();
            }
            return moved;
        } finally {
            turn.unlock();
        }
    }

    private void pauseItself() {
        log.error(
                "the relay pauses itself: {} calls of the publisher hang; resume() once it answers"
                        + " again",
                work.stats().abandonedCalls());
        paused = true;
        work.leave(); // others may do better
    }

    /**
     * Stops and gives the buckets back. A call of the publisher that is under way is interrupted
     * once half of the time has passed.
     *
     * @return true if everything had ended by the deadline
     */
    public boolean stop(Duration deadline) throws InterruptedException {
        long end = System.nanoTime() + deadline.toNanos();
        stopping = true;
        listener.ifPresent(Listener::stop);
        wake();
        Thread running;
        synchronized (this) {
            running = thread;
        }
        if (!join(running, deadline.dividedBy(2))) {
            running.interrupt();
        }
        boolean ended = join(running, left(end));
        return join(leave(), left(end)) && ended && work.stats().abandonedCalls() == 0;
    }

    /** In a thread of its own, because a database that is silent must not keep the caller. */
    private Thread leave() {
        var leaving =
                new Thread(
                        () -> {
                            turn.lock();
                            try {
                                work.leave();
                            } finally {
                                turn.unlock();
                            }
                        },
                        "onlyonce-relay-leave");
        leaving.setDaemon(true);
        leaving.start();
        return leaving;
    }

    private static Duration left(long end) {
        return Duration.ofNanos(Math.max(1, end - System.nanoTime()));
    }

    /** Stops within ten seconds. */
    @Override
    public void close() {
        try {
            stop(CLOSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it has done so far. */
    public RelayStats stats() {
        return work.stats();
    }

    private static boolean join(Thread thread, Duration bound) throws InterruptedException {
        if (thread == Thread.currentThread()) {
            return false;
        }
        thread.join(Math.max(1, bound.toMillis()));
        return !thread.isAlive();
    }

    private void loop() {
        Duration poll = atMostRhythm(options.poll());
        Duration pause = poll;
        while (!stopping) {
            long published = work.stats().published();
            try {
                if (paused) {
                    leaveWhilePaused();
                } else if (runOnce() > 0) {
                    pause = poll;
                    continue;
                }
                pause = poll;
                await(pause);
            } catch (InterruptedException e) {
                return;
            } catch (SQLException | RuntimeException | Error e) { // nobody would start it again
                log.warn("a round of the relay failed and is tried again: {}", e.toString());
                pause =
                        work.stats().published() > published
                                ? poll
                                : atMostRhythm(pause.multipliedBy(2));
                sleep(pause);
            }
        }
    }

    /** Never so long that the leases would be lost meanwhile. */
    private Duration atMostRhythm(Duration pause) {
        Duration longest = options.lease().dividedBy(3);
        return pause.compareTo(longest) < 0 ? pause : longest;
    }

    private void leaveWhilePaused() throws InterruptedException {
        turn.lockInterruptibly();
        try {
            work.leave();
        } finally {
            turn.unlock();
        }
    }

    private void await(Duration bound) throws InterruptedException {
        boolean woken = wake.tryAcquire(bound.toNanos(), TimeUnit.NANOSECONDS);
        if (woken) {
            wake.drainPermits();
        }
    }

    private void sleep(Duration bound) {
        try {
            await(bound);
        } catch (InterruptedException e) {
            stopping = true;
        }
    }
}
