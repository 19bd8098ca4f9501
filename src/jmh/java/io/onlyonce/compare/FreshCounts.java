package io.onlyonce.compare;

import com.zaxxer.hikari.HikariDataSource;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a fresh command costs that can be counted: round trips, WAL, row versions. */
final class FreshCounts {

    /** As often as the driver needs to prepare on the server, and some more. */
    private static final int BEFORE = 300;

    private static final int TRIPS = 20;
    private static final int TIMES = 1_000;

    private final Ground ground;
    private final Report report;

    FreshCounts(Ground ground, Report report) {
        this.ground = ground;
        this.report = report;
    }

    void run(Effort effort) throws Exception {
        Map<String, Double> trips = new LinkedHashMap<>();
        for (Fresh.Contender each : Fresh.contenders()) {
            trips.put(each.name(), trips(each).median());
        }
        double added = trips.get(Fresh.OURS) - trips.get(Fresh.BARE);
        report.add("round trips added to bare", Fresh.OURS, Spread.counted(added, TRIPS));
        Map<String, List<Double>> wal = new LinkedHashMap<>();
        for (int round = 1; round <= effort.rounds(); round++) {
            for (Fresh.Contender each : Fresh.contenders()) {
                wal.computeIfAbsent(each.name(), name -> new ArrayList<>()).add(wal(each, effort));
            }
            report.progress("bytes of WAL, round %d: %s".formatted(round, wal));
        }
        wal.forEach((name, bytes) -> report.add("WAL, bytes", name, Spread.of(bytes)));
        report.add(
                "WAL against textbook",
                Fresh.OURS,
                Spread.ratios(wal.get(Fresh.OURS), wal.get(Fresh.TEXTBOOK)));
        for (Fresh.Contender each : Fresh.contenders()) {
            versions(each, effort.of(TIMES));
        }
    }

    private Spread trips(Fresh.Contender each) throws Exception {
        try (var proxy = ground.proxy();
                var pool = ground.poolThrough(proxy, each.isolation())) {
            Variant variant = each.maker().on(pool);
            repeat(variant, TRIPS);
            List<Double> trips = new ArrayList<>();
            for (int i = 0; i < TRIPS; i++) {
                proxy.resetCounters();
                repeat(variant, 1);
                trips.add((double) proxy.roundTrips());
            }
            report.add("round trips", each.name(), Spread.of(trips));
            return Spread.of(trips);
        }
    }

    private double wal(Fresh.Contender each, Effort effort) throws Exception {
        try (var pool = ground.pool(1, each.isolation())) {
            Variant variant = each.maker().on(pool);
            ground.execute("CHECKPOINT");
            // With the first images of the pages after the checkpoint.
            repeat(variant, effort.of(BEFORE));
            long before = position();
            int times = effort.of(TIMES);
            repeat(variant, times);
            return (position() - before) / (double) times;
        }
    }

    private long position() throws Exception {
        return ground.count("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')");
    }

    /** Of command_dedup: versions written, how many of them heap-only, and rows deleted. */
    private void versions(Fresh.Contender each, int times) throws Exception {
        long inserted = tuples("n_tup_ins");
        long updated = tuples("n_tup_upd");
        long heapOnly = tuples("n_tup_hot_upd");
        HikariDataSource pool = ground.pool(1, each.isolation());
        repeat(each.maker().on(pool), times);
        ground.settle(pool);
        long updates = tuples("n_tup_upd") - updated;
        add("row versions", each, tuples("n_tup_ins") - inserted + updates, times);
        add("dead row versions", each, updates, times);
        add("dead, of them heap-only", each, tuples("n_tup_hot_upd") - heapOnly, times);
    }

    private void add(String measure, Fresh.Contender each, long count, int times) {
        report.add(measure, each.name(), Spread.counted(count / (double) times, times));
    }

    private long tuples(String column) throws Exception {
        return ground.count(
                "SELECT "
                        + column
                        + " FROM pg_stat_user_tables WHERE relid ="
                        + " 'onlyonce.command_dedup'::regclass");
    }

    private static void repeat(Variant variant, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            variant.run(Business.id(), Business.account(0, 1));
        }
    }
}
