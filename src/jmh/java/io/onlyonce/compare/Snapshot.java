package io.onlyonce.compare;

import io.onlyonce.outbox.OutboxMode;
import io.onlyonce.tx.Isolation;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

/**
 * Draining while a reader at REPEATABLE READ is open for the whole drain, so that no row that has
 * been published can be cleaned away, against draining without it.
 */
final class Snapshot implements Compare.Comparison {

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        SkipLocked.create(ground);
        try (var pool = ground.pool(4, Isolation.READ_COMMITTED)) {
            Map<String, Drain> drains = new LinkedHashMap<>();
            drains.put("OnlyOnce, DELETE", new RelayDrain(pool, OutboxMode.DELETE));
            drains.put("OnlyOnce, KEEP", new RelayDrain(pool, OutboxMode.KEEP));
            drains.put("loop, UPDATE", new SkipLocked(pool, SkipLocked.EQUAL, false, rows -> {}));
            Map<String, List<Double>> kept = new LinkedHashMap<>();
            drains.keySet().forEach(name -> kept.put(name, new ArrayList<>()));
            for (int round = effort.isBrief() ? 1 : -1;
                    round <= effort.rounds();
                    round++) { // two to warm up
                for (var each : drains.entrySet()) {
                    boolean first = round % 2 == 0;
                    double one =
                            measure(ground, pool, each.getValue(), first, effort.of(Relay.ROWS));
                    double other =
                            measure(ground, pool, each.getValue(), !first, effort.of(Relay.ROWS));
                    double ratio = first ? one / other : other / one;
                    report.progress("%s kept %.2f".formatted(each.getKey(), ratio));
                    if (round > 0) {
                        kept.get(each.getKey()).add(ratio);
                    }
                }
            }
            kept.forEach(
                    (name, ratios) ->
                            report.add("speed kept under a snapshot", name, Spread.of(ratios)));
        }
    }

    private static double measure(
            Ground ground, DataSource pool, Drain drain, boolean held, int rows) throws Exception {
        String table = drain instanceof RelayDrain ? RelayDrain.TABLE : SkipLocked.EQUAL;
        drain.fill(rows);
        Drain.level(ground, table);
        try (var reader = pool.getConnection()) {
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            if (held) {
                try (var select = reader.createStatement()) {
                    select.execute("SELECT count(*) FROM account");
                }
            }
            double speed = Drain.time(drain, rows);
            reader.rollback();
            return speed;
        }
    }
}
