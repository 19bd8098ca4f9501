package io.onlyonce.compare;

import io.onlyonce.ground.Await;
import io.onlyonce.outbox.OutboxMode;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.RelayOptions;
import io.onlyonce.tx.Isolation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

/** Four workers on one outbox: how many events are delivered after a later one of their own. */
final class Order implements Compare.Comparison {

    private static final int WORKERS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** What the publishers of all workers see, by aggregate. */
    private static final class Seen {
        private final long[] last = new long[Backlog.AGGREGATES];
        private final AtomicInteger late = new AtomicInteger();
        private final AtomicInteger all = new AtomicInteger();

        synchronized void see(String aggregate, long version) {
            int of = Integer.parseInt(aggregate);
            if (version + 1 < last[of]) {
                late.incrementAndGet();
            }
            last[of] = Math.max(last[of], version + 1);
            all.incrementAndGet();
        }
    }

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        SkipLocked.create(ground);
        List<Double> ours = new ArrayList<>();
        List<Double> loops = new ArrayList<>();
        try (var pool = ground.pool(WORKERS + 2, Isolation.READ_COMMITTED)) {
            for (int round = 1; round <= effort.rounds(); round++) {
                ours.add(100.0 * relays(pool, effort.of(Relay.ROWS)) / effort.of(Relay.ROWS));
                loops.add(100.0 * loops(pool, effort.of(Relay.ROWS)) / effort.of(Relay.ROWS));
                report.progress("round %d: %s, %s".formatted(round, ours, loops));
            }
        }
        report.add("% out of order, 4 relays", "OnlyOnce, KEEP", Spread.of(ours), "goal: 0");
        report.add("% out of order, 4 workers", "loop, UPDATE", Spread.of(loops));
    }

    /** They share the buckets before anything is there, and drain while events are appended. */
    private static int relays(DataSource pool, int rows) throws Exception {
        var seen = new Seen();
        var drain = new RelayDrain(pool, OutboxMode.KEEP);
        drain.fill(0);
        Collection<OutboxRelay> relays = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            OutboxRelay relay =
                    drain.relay(
                            events -> {
                                events.forEach(
                                        e -> seen.see(e.aggregateId(), e.version().getAsLong()));
                                return RelayDrain.NOTHING.publish(events);
                            },
                            RelayOptions.standard()
                                    .withLease(Duration.ofSeconds(3), Duration.ofSeconds(1))
                                    .withPoll(Duration.ofMillis(20)));
            relay.start();
            relays.add(relay);
        }
        Await.until(
                PATIENCE,
                () -> relays.stream().allMatch(relay -> relay.stats().buckets() == 64 / WORKERS),
                "the buckets are shared");
        drain.append(0, rows);
        Await.until(PATIENCE, () -> seen.all.get() >= rows, "all are published");
        relays.forEach(OutboxRelay::close);
        return seen.late.get();
    }

    private static int loops(DataSource pool, int rows) throws Exception {
        var seen = new Seen();
        var loop =
                new SkipLocked(
                        pool,
                        SkipLocked.EQUAL,
                        false,
                        batch -> batch.forEach(row -> seen.see(row.aggregateId(), row.version())));
        loop.fill(rows);
        List<Callable<Long>> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            workers.add(loop::work);
        }
        var threads = Executors.newFixedThreadPool(WORKERS);
        try {
            for (var worker : threads.invokeAll(workers)) {
                worker.get();
            }
        } finally {
            threads.shutdown();
        }
        Backlog.check(rows, seen.all.get());
        return seen.late.get();
    }
}
