package io.onlyonce.compare;

import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A duplicate of a command in flight: how long it holds a connection before it has its answer. */
final class InFlight implements Compare.Comparison {

    private static final int TIMES = 5_000;
    private static final int TEXTBOOK_TIMES = 20;
    private static final Duration WINNER = Duration.ofMillis(200);
    private static final Duration LONGEST = Duration.ofSeconds(20);

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        ours(ground, report, effort.of(TIMES));
        textbook(ground, report, effort.of(TEXTBOOK_TIMES));
    }

    private static void ours(Ground ground, Report report, int times) throws Exception {
        var held = new Held(ground.pool(1, Isolation.READ_COMMITTED));
        var options = RunOptions.standard().withInFlight(InFlightPolicy.failFast());
        var duplicate = new Ours(held.source(), options);
        var winner = new Ours(ground.pool(1, Isolation.READ_COMMITTED), options);
        String id = Business.id();
        var end = new CountDownLatch(1);
        whileInFlight(
                winner,
                id,
                () -> await(end, LONGEST),
                () -> {
                    for (int i = -200; i < times; i++) { // the first ones warm up
                        if (i == 0) {
                            held.nanos().reset();
                        }
                        try {
                            duplicate.run(id, 1);
                            throw new IllegalStateException("a duplicate ran");
                        } catch (CommandInFlightException e) {
                            // as promised
                        }
                    }
                    end.countDown();
                });
        tell(report, Fresh.OURS, held);
    }

    /** It waits for the winner, whose work ends by itself after 200 ms. */
    private static void textbook(Ground ground, Report report, int times) throws Exception {
        var held = new Held(ground.pool(1, Isolation.READ_COMMITTED));
        var duplicate = new Textbook(held.source());
        var winner = new Textbook(ground.pool(1, Isolation.READ_COMMITTED));
        for (int i = 0; i < times; i++) {
            String id = Business.id();
            whileInFlight(winner, id, () -> Pressure.pause(WINNER), () -> duplicate.run(id, 1));
        }
        tell(report, Fresh.TEXTBOOK, held);
    }

    private static void whileInFlight(
            Variant winner, String id, Runnable work, Interleaved.Timed duplicates)
            throws Exception {
        var started = new CountDownLatch(1);
        var thread = Executors.newSingleThreadExecutor();
        try {
            var won =
                    thread.submit(
                            () -> {
                                winner.run(
                                        id,
                                        1,
                                        () -> {
                                            started.countDown();
                                            work.run();
                                        });
                                return null;
                            });
            if (!started.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the winner never started");
            }
            duplicates.run();
            won.get(30, TimeUnit.SECONDS);
        } finally {
            thread.shutdown();
        }
    }

    private static void await(CountDownLatch end, Duration longest) {
        try {
            end.await(longest.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void tell(Report report, String name, Held held) {
        for (double percentile : new double[] {50, 99, 100}) {
            report.add(
                    "p%.0f, ms a duplicate holds its connection".formatted(percentile),
                    name,
                    Spread.counted(
                            held.nanos().getValueAtPercentile(percentile) / 1e6,
                            (int) held.nanos().getTotalCount()));
        }
    }
}
