package io.onlyonce.outbox;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Markers;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

/**
 * Threads that append to 200 aggregates, each aggregate from one thread, so that its order is that
 * of its versions. They keep a little ahead of the relays and go on to the end of the storm.
 */
final class StormProducers implements AutoCloseable {

    private static final int THREADS = 4;
    private static final int AGGREGATES = 200;

    private final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    private final List<Future<?>> running = new ArrayList<>();
    private final AtomicLong appended = new AtomicLong();
    private final DataSource source;
    private final OnlyOnce once;
    private final int ahead;
    private volatile long relayed;

    StormProducers(DataSource source, int events) throws Exception {
        this.source = source;
        once = OnlyOnce.on(source).withoutExpiry().build();
        ahead = events / 5;
        for (int i = 0; i < THREADS; i++) {
            int first = i;
            running.add(threads.submit(() -> produce(first, events / THREADS)));
        }
    }

    /** Lets them go on. */
    void relayed(long events) {
        relayed = events;
    }

    long appended() {
        return appended.get();
    }

    /** Returns once all is appended, or fails as they did. */
    void finish() throws Exception {
        for (Future<?> one : running) {
            one.get(1, TimeUnit.MINUTES);
        }
    }

    boolean isDone() {
        return running.stream().allMatch(Future::isDone);
    }

    private Void produce(int first, int events) throws Exception {
        var random = new Random(first);
        var versions = new int[AGGREGATES];
        try (Connection connection = source.getConnection()) {
            connection.setAutoCommit(false);
            int left = events;
            while (left > 0 && !Thread.currentThread().isInterrupted()) {
                int aggregate = first + THREADS * random.nextInt(AGGREGATES / THREADS);
                List<OutboxEvent> some = new ArrayList<>();
                for (int n = Math.min(left, 1 + random.nextInt(5)); n > 0; n--) {
                    some.add(event(aggregate, versions[aggregate] + some.size() + 1));
                }
                once.outbox().append(connection, "acme", some);
                if (random.nextInt(20) == 0) {
                    connection.rollback(); // the same versions are appended later, for good
                } else {
                    connection.commit();
                    left -= some.size();
                    versions[aggregate] += some.size();
                    appended.addAndGet(some.size());
                }
                while (appended.get() - relayed > ahead
                        && !Thread.currentThread().isInterrupted()) {
                    LockSupport.parkNanos(1_000_000);
                }
            }
        }
        return null;
    }

    private static OutboxEvent event(int aggregate, int version) {
        String id = "a" + aggregate;
        return OutboxEvent.of(id + ":" + version, "Case", id, "Changed", Markers.MARK.getBytes())
                .withVersion(version);
    }

    @Override
    public void close() throws InterruptedException {
        threads.shutdownNow();
        threads.awaitTermination(10, TimeUnit.SECONDS);
    }
}
