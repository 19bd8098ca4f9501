package io.onlyonce.compare;

import io.onlyonce.outbox.OutboxMode;
import io.onlyonce.tx.Isolation;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

/**
 * Draining a backlog into a publisher that does nothing: rows per second, way beside way, in an
 * order that moves on by one each round.
 */
final class Relay implements Compare.Comparison {

    static final int ROWS = 40_000;

    /** One of its batches: it is slow, and more rows would not make it faster. */
    private static final int FEW = 4_096;

    private static final int WORKERS = 4;

    private static final String DELETE = "OnlyOnce, DELETE";
    private static final String KEEP = "OnlyOnce, KEEP";
    private static final String LOOP = "loop, UPDATE";
    private static final String DELETE_LOOP = "loop, DELETE";
    private static final String LEAN = "loop, UPDATE, lean table";
    private static final String LEAN_DELETE = "loop, DELETE, lean table";
    private static final String FLUSH = "transaction-outbox, flush";
    private static final String MEMORY = "transaction-outbox, from memory";

    /** One way, its table and how much it gets. */
    private record Contender(String name, Drain drain, String table, int rows) {}

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        SkipLocked.create(ground);
        try (var pool = ground.pool(WORKERS + 2, Isolation.READ_COMMITTED);
                var flush = new TransactionOutboxDrain(pool, WORKERS, false);
                var memory = new TransactionOutboxDrain(pool, WORKERS, true)) {
            var contenders =
                    List.of(
                            ours(DELETE, pool, OutboxMode.DELETE, effort.of(ROWS)),
                            ours(KEEP, pool, OutboxMode.KEEP, effort.of(ROWS)),
                            loop(LOOP, pool, SkipLocked.EQUAL, false, effort.of(ROWS)),
                            loop(DELETE_LOOP, pool, SkipLocked.EQUAL, true, effort.of(ROWS)),
                            loop(LEAN, pool, SkipLocked.LEAN, false, effort.of(ROWS)),
                            loop(LEAN_DELETE, pool, SkipLocked.LEAN, true, effort.of(ROWS)),
                            new Contender(
                                    FLUSH, flush, TransactionOutboxDrain.TABLE, effort.of(FEW)),
                            new Contender(
                                    MEMORY, memory, TransactionOutboxDrain.TABLE, effort.of(FEW)));
            tell(measure(ground, report, contenders, effort), report);
        }
    }

    private static Contender ours(String name, DataSource pool, OutboxMode mode, int rows)
            throws SQLException {
        return new Contender(name, new RelayDrain(pool, mode), RelayDrain.TABLE, rows);
    }

    private static Contender loop(
            String name, DataSource pool, String table, boolean delete, int size) {
        return new Contender(name, new SkipLocked(pool, table, delete, rows -> {}), table, size);
    }

    private static Map<String, List<Double>> measure(
            Ground ground, Report report, List<Contender> contenders, Effort effort)
            throws Exception {
        Map<String, List<Double>> speeds = new LinkedHashMap<>();
        contenders.forEach(each -> speeds.put(each.name(), new ArrayList<>()));
        int rounds = effort.rounds();
        for (int round = effort.isBrief() ? 1 : -1;
                round <= rounds;
                round++) { // the first two warm up
            List<Contender> order = new ArrayList<>(contenders);
            Collections.rotate(order, round);
            for (Contender each : order) {
                double speed = Drain.measure(ground, each.drain(), each.table(), each.rows());
                if (round > 0) {
                    speeds.get(each.name()).add(speed);
                }
                report.progress(
                        "round %d of %d, %s: %.0f rows/s"
                                .formatted(Math.max(round, 0), rounds, each.name(), speed));
            }
        }
        return speeds;
    }

    private static void tell(Map<String, List<Double>> speeds, Report report) {
        speeds.forEach((name, values) -> report.add("rows/s", name, Spread.of(values)));
        ratio(report, speeds, DELETE, FLUSH, "goal: 20 or more");
        ratio(report, speeds, KEEP, FLUSH, "goal: 20 or more");
        ratio(report, speeds, DELETE, MEMORY, "");
        ratio(report, speeds, KEEP, MEMORY, "");
        ratio(report, speeds, DELETE, LOOP, "goal: 1.5 or more");
        ratio(report, speeds, KEEP, LOOP, "goal: 1.0 or more");
        ratio(report, speeds, DELETE, DELETE_LOOP, "");
        ratio(report, speeds, DELETE, LEAN, "");
        ratio(report, speeds, KEEP, LEAN, "");
        ratio(report, speeds, DELETE, LEAN_DELETE, "");
    }

    private static void ratio(
            Report report,
            Map<String, List<Double>> speeds,
            String name,
            String against,
            String goal) {
        report.add(
                "speed against " + against,
                name,
                Spread.ratios(speeds.get(name), speeds.get(against)),
                goal);
    }
}
