package io.onlyonce.compare;

import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.Race;
import io.onlyonce.tx.Isolation;

import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

/**
 * 32 callers of one id at once, again and again: how long the winner takes (its work takes 20 ms),
 * the losers until they are refused, and the waiters until they have the winner's result; and for
 * how long the others hold a connection of the pool of 10.
 */
final class Contention implements Compare.Comparison {

    private static final int CALLERS = 32;
    private static final int POOL = 10;
    private static final int RACES = 150;
    private static final Duration WORK = Duration.ofMillis(20);
    private static final double[] PERCENTILES = {50, 90, 99, 100};

    /** One way and what became of its callers. */
    private static final class Case {
        private final String name;
        private final Variant variant;
        private final Held held;
        private final Histogram winners = histogram();
        private final Histogram losers = histogram();
        private final Histogram waiters = histogram();

        Case(String name, Variant.Maker maker, DataSource pool) throws Exception {
            this.name = name;
            this.held = new Held(pool);
            this.variant = maker.on(held.source());
        }
    }

    private static Histogram histogram() {
        return new ConcurrentHistogram(TimeUnit.MINUTES.toNanos(1), 3);
    }

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        try (var pool = ground.pool(POOL, Isolation.READ_COMMITTED)) {
            RunOptions standard = RunOptions.standard();
            RunOptions failFast = standard.withInFlight(InFlightPolicy.failFast());
            List<Case> cases =
                    List.of(
                            new Case("OnlyOnce, default policy", p -> new Ours(p, standard), pool),
                            new Case("OnlyOnce, fail fast", p -> new Ours(p, failFast), pool),
                            new Case(Fresh.TEXTBOOK, Textbook::new, pool));
            List<Case> order = new ArrayList<>(cases);
            for (int i = -10; i < effort.of(RACES); i++) { // ten to warm up
                if (i == 0) {
                    cases.forEach(Contention::reset);
                }
                Collections.rotate(order, 1);
                for (Case each : order) {
                    race(ground, each);
                }
                if (i % 50 == 0) {
                    report.progress("race %d of %d".formatted(i, effort.of(RACES)));
                }
            }
            cases.forEach(each -> tell(report, each));
        }
    }

    private static void reset(Case each) {
        each.winners.reset();
        each.losers.reset();
        each.waiters.reset();
        each.held.nanos().reset();
    }

    private static void race(Ground ground, Case each) throws Exception {
        String id = Business.id();
        var won = new AtomicInteger();
        List<Callable<Void>> callers = Collections.nCopies(CALLERS, () -> call(each, id, won));
        Race.of(callers);
        if (won.get() != 1) {
            throw new IllegalStateException(won + " callers ran the work of " + each.name);
        }
        long effects = ground.count("SELECT count(*) FROM audit WHERE command_id = '" + id + "'");
        if (effects != 1) {
            throw new IllegalStateException(effects + " effects of " + each.name);
        }
    }

    private static Void call(Case each, String id, AtomicInteger won) throws Exception {
        var mine = new AtomicInteger();
        long start = System.nanoTime();
        Histogram histogram;
        try {
            each.variant.run(
                    id,
                    1,
                    () -> {
                        mine.incrementAndGet();
                        won.incrementAndGet();
                        Pressure.pause(WORK);
                    });
            histogram = mine.get() > 0 ? each.winners : each.waiters;
        } catch (CommandInFlightException e) {
            histogram = each.losers;
        }
        histogram.recordValue(System.nanoTime() - start);
        return null;
    }

    private static void tell(Report report, Case each) {
        tell(report, "winners, ms", each.name, each.winners);
        tell(report, "losers, ms", each.name, each.losers);
        tell(report, "waiters, ms", each.name, each.waiters);
        tell(report, "connection held, ms", each.name, each.held.nanos());
    }

    private static void tell(Report report, String who, String name, Histogram histogram) {
        if (histogram.getTotalCount() == 0) {
            return;
        }
        for (double percentile : PERCENTILES) {
            double millis = histogram.getValueAtPercentile(percentile) / 1e6;
            report.add(
                    "p%.0f, %s".formatted(percentile, who),
                    name,
                    Spread.counted(millis, (int) histogram.getTotalCount()));
        }
    }
}
