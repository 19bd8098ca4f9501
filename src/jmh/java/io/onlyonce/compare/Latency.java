package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Await;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;
import io.onlyonce.tx.Isolation;

import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How long after its COMMIT an event of the same process is with the publisher, under light load.
 * The clock starts when the event is made, so its INSERT and the COMMIT are in it; beside it, what
 * those two take by themselves.
 */
final class Latency implements Compare.Comparison {

    private static final int EVENTS = 1_500;
    private static final int WARM_UP = 300;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long MAX = TimeUnit.MINUTES.toNanos(1);

    private final Histogram arrival = new ConcurrentHistogram(MAX, 3);
    private final Histogram commit = new Histogram(MAX, 3);

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        try (var pool = ground.pool(4, Isolation.READ_COMMITTED)) {
            var once = OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).build();
            try (var relay =
                    once.relay(
                            events -> {
                                long now = System.nanoTime();
                                events.forEach(event -> arrived(event, now));
                                return Collections.nCopies(
                                        events.size(), PublishResult.published());
                            })) {
                relay.start();
                int warmUp = effort.of(WARM_UP);
                int events = effort.of(EVENTS);
                send(once, 0, warmUp);
                Await.until(PATIENCE, () -> arrival.getTotalCount() == warmUp, "all have arrived");
                arrival.reset();
                commit.reset();
                send(once, warmUp, warmUp + events);
                Await.until(PATIENCE, () -> arrival.getTotalCount() == events, "all have arrived");
            }
            tell(report);
        }
    }

    private void arrived(OutboxEvent event, long now) {
        arrival.recordValue(Math.max(0, now - ByteBuffer.wrap(event.payload()).getLong()));
    }

    private void send(OnlyOnce once, int from, int to) throws Exception {
        for (int n = from; n < to; n++) {
            int number = n;
            long start =
                    once.transactions()
                            .execute(
                                    connection -> {
                                        long now = System.nanoTime();
                                        var event = event(number, now);
                                        once.outbox().append(connection, "acme", List.of(event));
                                        return now;
                                    });
            commit.recordValue(System.nanoTime() - start);
            TimeUnit.MICROSECONDS.sleep(ThreadLocalRandom.current().nextInt(5_000, 15_000));
        }
    }

    private static OutboxEvent event(int number, long now) {
        byte[] time = ByteBuffer.allocate(Long.BYTES).putLong(now).array();
        return OutboxEvent.of("e:" + number, "Account", "" + number % 100, "Deposited", time);
    }

    private void tell(Report report) {
        for (double percentile : new double[] {50, 90, 99, 99.9}) {
            double millis = arrival.getValueAtPercentile(percentile) / 1e6;
            String goal = percentile == 50 ? "goal: 5" : percentile == 99 ? "goal: 50" : "";
            report.add(
                    "p%s, ms to the publisher".formatted(percentile),
                    "OnlyOnce",
                    new Spread(millis, millis, millis, (int) arrival.getTotalCount()),
                    goal);
        }
        double own = commit.getValueAtPercentile(50);
        double ratio = arrival.getValueAtPercentile(50) / own;
        report.add(
                "p50 against INSERT and COMMIT",
                "OnlyOnce",
                new Spread(ratio, ratio, ratio, (int) arrival.getTotalCount()));
    }
}
