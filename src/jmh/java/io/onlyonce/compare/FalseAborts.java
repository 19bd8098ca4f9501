package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.Levels;
import io.onlyonce.ground.Race;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How often transactions that have nothing to do with each other abort each other (40001): distinct
 * ids, distinct rows, on an empty, a tiny analysed and a large command table.
 */
final class FalseAborts implements Compare.Comparison {

    private static final int THREADS = 8;
    private static final int EACH = 500;

    /** What the command table looks like before the calls. */
    private record Table(String name, int rows) {}

    private static final List<Table> TABLES =
            List.of(
                    new Table("empty", 0),
                    new Table("30 rows, analysed", 30),
                    new Table("200,000 rows", 200_000));

    /** Percent of all calls: failures that a caller would see, and transactions rolled back. */
    private static final class Rates {
        private final List<Double> seen = new ArrayList<>();
        private final List<Double> rolledBack = new ArrayList<>();
    }

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        for (Isolation isolation : List.of(Isolation.SERIALIZABLE, Isolation.REPEATABLE_READ)) {
            for (Table table : effort.isBrief() ? TABLES.subList(0, 2) : TABLES) {
                var bare = new Rates();
                var ours = new Rates();
                var control = new Rates();
                for (int round = 1; round <= effort.rounds(); round++) {
                    measure(ground, isolation, Bare::new, bare, effort);
                    refill(ground, table, round);
                    measure(
                            ground,
                            isolation,
                            pool -> new Ours(pool, once(isolation)),
                            ours,
                            effort);
                    refill(ground, table, 2);
                    measure(ground, isolation, ReadFirst::new, control, effort);
                    report.progress(
                            "%s, %s, round %d: rolled back %.3f %%, bare %.3f %%, read first %.3f %%"
                                    .formatted(
                                            Levels.sql(isolation),
                                            table.name(),
                                            round,
                                            last(ours.rolledBack),
                                            last(bare.rolledBack),
                                            last(control.rolledBack)));
                }
                tell(report, Levels.sql(isolation) + ", " + table.name(), bare, ours);
                report.add(
                        "% rolled back, read first",
                        Levels.sql(isolation) + ", " + table.name(),
                        Spread.of(control.rolledBack),
                        "control: this is what is measured");
            }
        }
    }

    private static RunOptions once(Isolation isolation) {
        return RunOptions.standard()
                .withTransaction(
                        TransactionOptions.readCommitted()
                                .withIsolation(isolation)
                                .withRetry(RetryPolicy.none()));
    }

    /** The large table is filled once; what a round adds to it changes nothing. */
    private static void refill(Ground ground, Table table, int round) throws SQLException {
        if (table.rows() < 1_000 || round == 1) {
            fill(ground, table);
        }
    }

    private static void fill(Ground ground, Table table) throws SQLException {
        ground.execute("TRUNCATE onlyonce.command_dedup, onlyonce.outbox_event");
        ground.execute(
                """
                INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status,
                    hash_version, command_id, operation, caller, tenant, payload_hash, content_tag, result)
                SELECT now(), now(), now() + interval '7 days', now() + interval '14 days', 1, 11,
                    gen_random_uuid(), 'account.deposit', 'checkout', 'acme', sha256(n::text::bytea), 'json',
                    convert_to('{"number":"' || n || '","account":1,"amount":10}', 'UTF8')
                FROM generate_series(1, %d) AS n\
                """
                        .formatted(table.rows()));
        if (table.rows() > 0) {
            ground.execute("ANALYZE onlyonce.command_dedup");
        }
    }

    private static void measure(
            Ground ground, Isolation isolation, Variant.Maker maker, Rates rates, Effort effort)
            throws Exception {
        long before = ground.rollbacks();
        var pool = ground.pool(THREADS, isolation);
        Variant variant = maker.on(pool);
        var failures = new AtomicInteger();
        List<Callable<Void>> callers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int worker = i;
            callers.add(() -> call(variant, worker, failures, effort.of(EACH)));
        }
        Race.of(callers);
        ground.settle(pool);
        double calls = THREADS * effort.of(EACH);
        rates.seen.add(100 * failures.get() / calls);
        rates.rolledBack.add(100 * (ground.rollbacks() - before) / calls);
    }

    private static Void call(Variant variant, int worker, AtomicInteger failures, int times)
            throws SQLException {
        for (int i = 0; i < times; i++) {
            try {
                variant.run(Business.id(), Business.account(worker, THREADS));
            } catch (SQLException e) {
                if (!"40001".equals(e.getSQLState())) {
                    throw e;
                }
                failures.incrementAndGet();
            }
        }
        return null;
    }

    private static double last(List<Double> values) {
        return values.get(values.size() - 1);
    }

    private static void tell(Report report, String where, Rates bare, Rates ours) {
        double allowed = 2 * mean(bare.rolledBack) + 0.2;
        String goal = "mean %.3f, goal: %.3f or less".formatted(mean(ours.rolledBack), allowed);
        report.add(
                "% rolled back, bare",
                where, Spread.of(bare.rolledBack), "mean %.3f".formatted(mean(bare.rolledBack)));
        report.add("% rolled back, OnlyOnce", where, Spread.of(ours.rolledBack), goal);
        double beyond = mean(ours.rolledBack) - 2 * mean(bare.rolledBack);
        report.add(
                "% rolled back, beyond twice bare",
                where, Spread.counted(Math.max(0, beyond), ours.rolledBack.size()));
        report.add("% failed, bare", where, Spread.of(bare.seen));
        report.add("% failed, OnlyOnce", where, Spread.of(ours.seen));
    }

    /** Aborts come in bursts, so the median of few rounds hides them. */
    private static double mean(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
    }
}
