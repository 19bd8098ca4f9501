package io.onlyonce.compare;

import io.onlyonce.command.CommandIds;
import io.onlyonce.tx.Isolation;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Command tables from 10 thousand to 5 million rows side by side on one server, with random and
 * with time-ordered ids: the claim, and a whole command, against the smallest table.
 */
final class Growth implements Compare.Comparison {

    private static final int[] ROWS = {10_000, 100_000, 1_000_000, 5_000_000};
    private static final int BLOCK = 250;

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        try (var pool = ground.pool(2 * ROWS.length + 1, Isolation.READ_COMMITTED)) {
            List<GrowthTable> tables = new ArrayList<>();
            for (boolean ordered : new boolean[] {true, false}) {
                for (int rows : ROWS) {
                    var table = new GrowthTable(ground, pool, ordered, rows);
                    table.fill(effort.of(rows));
                    tables.add(table);
                    report.progress("filled " + table.name());
                }
            }
            ground.execute("CHECKPOINT");
            var claims = new Interleaved();
            var commands = new Interleaved();
            for (GrowthTable each : tables) {
                claims.add(each.name(), each::claim);
                commands.add(each.name(), each::command);
            }
            claims.run(ground, report, effort, BLOCK);
            for (GrowthTable each : tables) {
                each.settle();
            }
            commands.run(ground, report, effort, BLOCK);
            for (GrowthTable each : tables) {
                if (each.rows() > ROWS[0]) {
                    String smallest = GrowthTable.name(each.ordered(), ROWS[0]);
                    report.add(
                            "claim, p50 against 10,000 rows",
                            each.name(),
                            claims.against(each.name(), smallest));
                    report.add(
                            "command, p50 against 10,000 rows",
                            each.name(),
                            commands.against(each.name(), smallest));
                }
            }
        }
    }

    static String id(boolean ordered) {
        return ordered ? CommandIds.next() : UUID.randomUUID().toString();
    }
}
