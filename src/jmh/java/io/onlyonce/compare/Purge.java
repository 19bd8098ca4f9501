package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.RunOptions;
import io.onlyonce.retention.PurgeReport;
import io.onlyonce.retention.Retention;
import io.onlyonce.tx.Isolation;

import org.HdrHistogram.ConcurrentHistogram;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

/**
 * The latency of commands of eight threads while a million forgotten commands are purged, against
 * the same without a purge, window beside window. A command that fails ends the comparison.
 */
final class Purge implements Compare.Comparison {

    private static final int ROWS = 1_000_000;
    private static final int WORKERS = 8;

    private static final String FILL =
            """
            INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status, hash_version,
                command_id, operation, caller, tenant, payload_hash, content_tag, result)
            SELECT t, t, t, t, 1, 1, 'purged-' || lpad(n::text, 30, '0'), 'account.deposit', 'checkout', 'acme',
                decode(repeat('00', 32), 'hex'), 'json', convert_to(repeat('x', 80), 'UTF8')
            FROM (SELECT n, now() - interval '20 days' + n * interval '1 second' AS t FROM generate_series(1, %d) AS n) s\
            """;

    private DataSource pool;
    private Variant commands;

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        int rows = effort.of(ROWS);
        int windows = effort.isBrief() ? 1 : Math.max(5, effort.rounds());
        try (var connections = ground.pool(WORKERS + 2, Isolation.READ_COMMITTED)) {
            pool = connections;
            commands = new Ours(pool, RunOptions.standard());
            report.progress("storing " + rows + " forgotten commands");
            ground.execute(FILL.formatted(rows));
            ground.execute("VACUUM ANALYZE onlyonce.command_dedup");
            ground.execute("CHECKPOINT");
            window(() -> pause(effort.of(Duration.ofSeconds(5)))); // warm-up
            List<Double> p99 = new ArrayList<>();
            List<Double> p50 = new ArrayList<>();
            List<Double> throughput = new ArrayList<>();
            List<Double> speed = new ArrayList<>();
            Measured quiet = window(() -> pause(effort.of(Duration.ofSeconds(5))));
            for (int round = 1; round <= windows; round++) {
                boolean isLast = round == windows;
                boolean quietFirst = round % 2 == 0;
                Duration length = Duration.ofNanos(quiet.nanos());
                if (quietFirst) {
                    quiet = window(() -> pause(length));
                }
                Measured purged = window(() -> purge(isLast ? rows : rows / windows));
                if (!quietFirst) {
                    quiet = window(() -> pause(Duration.ofNanos(purged.nanos())));
                }
                p99.add(purged.p99() / quiet.p99());
                p50.add(purged.p50() / quiet.p50());
                throughput.add(purged.perSecond() / quiet.perSecond());
                speed.add(purged.rows() * 1e9 / purged.nanos());
                report.progress(
                        "round %d: p99 %.1f ms with, %.1f ms without; %d rows purged in %.1f s, %.0f commands/s beside"
                                .formatted(
                                        round,
                                        purged.p99() / 1e6,
                                        quiet.p99() / 1e6,
                                        purged.rows(),
                                        purged.nanos() / 1e9,
                                        purged.perSecond()));
            }
            report.add("p99 while purging", "OnlyOnce", Spread.of(p99), "goal: 1.5 or less");
            report.add("p50 while purging", "OnlyOnce", Spread.of(p50));
            report.add("throughput kept", "OnlyOnce", Spread.of(throughput));
            report.add("rows purged per second", "OnlyOnce", Spread.of(speed));
            report.progress(
                    "left of them: "
                            + ground.count(
                                    "SELECT count(*) FROM onlyonce.command_dedup WHERE forget_at <="
                                            + " now()"));
        }
    }

    private record Measured(double p50, double p99, long done, long nanos, long rows) {
        double perSecond() {
            return done * 1e9 / nanos;
        }
    }

    /** Commands for as long as the other thing takes; it returns how many rows it removed. */
    private Measured window(Callable<Long> other) throws Exception {
        var latency = new ConcurrentHistogram(TimeUnit.MINUTES.toNanos(1), 3);
        var over = new AtomicBoolean();
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            int worker = i;
            tasks.add(
                    threads.submit(
                            () -> {
                                while (!over.get()) {
                                    long start = System.nanoTime();
                                    commands.run(Business.id(), Business.account(worker, WORKERS));
                                    latency.recordValue(System.nanoTime() - start);
                                }
                                return null;
                            }));
        }
        long start = System.nanoTime();
        long rows = other.call();
        long nanos = System.nanoTime() - start;
        over.set(true);
        for (Future<Void> task : tasks) {
            task.get(60, TimeUnit.SECONDS);
        }
        threads.shutdown();
        return new Measured(
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getTotalCount(),
                nanos,
                rows);
    }

    private static long pause(Duration length) {
        Pressure.pause(length);
        return 0;
    }

    private long purge(int rows) throws Exception {
        Retention retention = OnlyOnce.on(pool).withoutExpiry().build().retention();
        PurgeReport report =
                retention.runOnce(
                        Duration.ofMinutes(10),
                        so -> {
                            if (so.commands() >= rows) {
                                retention.close();
                            }
                        });
        return report.commands();
    }
}
