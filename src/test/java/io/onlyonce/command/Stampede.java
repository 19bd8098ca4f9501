package io.onlyonce.command;

import io.onlyonce.ground.Markers;
import io.onlyonce.ground.Race;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

/**
 * One process's share of a race: its threads walk over ids that every other process walks over too,
 * at isolation levels and with in-flight policies drawn by lot, and keep what they were told.
 */
final class Stampede {

    static final int ACCOUNTS = 8;

    /** How far the threads may be apart; each id is called by most of them. */
    private static final int SPREAD = 4;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofMinutes(30);

    private final String name;
    private final List<CommandRunner> runners = new ArrayList<>();
    private final Told told = new Told();
    private final ConcurrentMap<String, AtomicInteger> inside = new ConcurrentHashMap<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger runs = new AtomicInteger();

    Stampede(String name, List<? extends DataSource> pools) throws SQLException {
        this.name = name;
        for (DataSource pool : pools) {
            runners.add(Bank.once(pool).commands());
        }
    }

    /** So many threads make so many calls each. */
    Told run(int threads, int steps, long seed) throws Exception {
        List<Callable<Void>> callers = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            CommandRunner runner = runners.get(thread % runners.size());
            var random = new Random(seed * 1_000 + thread);
            callers.add(
                    () -> {
                        for (int step = 0; step < steps; step++) {
                            call(runner, step + random.nextInt(SPREAD), random);
                        }
                        return null;
                    });
        }
        Race.of(DEADLINE, callers);
        return told;
    }

    private void call(CommandRunner runner, int number, Random random) throws SQLException {
        String id = "shared-" + Markers.MARK + number;
        CommandWork<String, SQLException> work = context -> alone(context, id, number);
        RunOptions options = options(random);
        Outcome<String> outcome;
        try {
            outcome = runner.run(Bank.command(id), String.class, options, work);
        } catch (CommandInFlightException e) { // the policy was to fail fast
            options = options.withInFlight(InFlightPolicy.waitUpTo(PATIENCE));
            outcome = runner.run(Bank.command(id), String.class, options, work);
        }
        told.add(id, outcome.value(), 1, outcome.replayed() ? 0 : 1);
        int done = calls.incrementAndGet();
        if (done % 10_000 == 0) {
            System.out.println(name + ": " + done + " calls");
        }
    }

    /** In this process, nobody else may be in this command's work at the same time. */
    private String alone(Work work, String id, int number) throws SQLException {
        AtomicInteger callers = inside.computeIfAbsent(id, i -> new AtomicInteger());
        if (callers.incrementAndGet() != 1) {
            throw new AssertionError("two callers are running " + id);
        }
        try {
            return deposit(work, id, number);
        } finally {
            callers.decrementAndGet();
        }
    }

    /** Nothing here is idempotent by itself: a second run would show in all three places. */
    private String deposit(Work work, String id, int number) throws SQLException {
        String receipt = name + "/" + runs.incrementAndGet();
        Bank.deposit(work.connection(), "a" + number % ACCOUNTS, id);
        work.outbox()
                .append(
                        OutboxEvent.of(
                                "deposited:" + receipt,
                                "Account",
                                "a" + number % ACCOUNTS,
                                "Deposited",
                                Markers.MARK.getBytes()));
        return receipt;
    }

    private static RunOptions options(Random random) {
        Isolation[] levels = Isolation.values();
        InFlightPolicy inFlight =
                switch (random.nextInt(8)) {
                    case 0 -> InFlightPolicy.failFast();
                    case 1 -> InFlightPolicy.blockUpTo(PATIENCE);
                    default -> InFlightPolicy.waitUpTo(PATIENCE);
                };
        return RunOptions.standard()
                .withInFlight(inFlight)
                .withTransaction(
                        TransactionOptions.readCommitted()
                                .withIsolation(levels[random.nextInt(levels.length)])
                                .withRetry(RetryPolicy.standard().withAttempts(1_000))
                                .withDeadline(PATIENCE));
    }

    /** For each id, each result that a caller was told, with how often, and how often as new. */
    static final class Told {

        private final ConcurrentMap<String, ConcurrentMap<String, Count>> results =
                new ConcurrentHashMap<>();

        /** How many callers were told so, and how many of them that it ran in their call. */
        record Count(int callers, int fresh) {}

        void add(String id, String result, int callers, int fresh) {
            results.computeIfAbsent(id, i -> new ConcurrentHashMap<>())
                    .merge(
                            result,
                            new Count(callers, fresh),
                            (a, b) -> new Count(a.callers + b.callers, a.fresh + b.fresh));
        }

        Map<String, ? extends Map<String, Count>> results() {
            return results;
        }

        int callers() {
            return results.values().stream()
                    .flatMap(told -> told.values().stream())
                    .mapToInt(Count::callers)
                    .sum();
        }
    }
}
