package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

import javax.sql.DataSource;

/**
 * A fresh command over a network: every round trip passes a proxy that holds it up, half on the way
 * there and half on the way back. What it really adds is measured beside it.
 */
final class Network implements Compare.Comparison {

    private static final int BLOCK = 60;

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        for (Duration delay :
                new Duration[] {Duration.ZERO, Duration.ofNanos(500_000), Duration.ofMillis(2)}) {
            measure(ground, report, effort, delay);
        }
    }

    private static void measure(Ground ground, Report report, Effort effort, Duration delay)
            throws Exception {
        String at = " at %.1f ms".formatted(delay.toNanos() / 1e6);
        Map<String, Variant.Maker> makers = new LinkedHashMap<>();
        makers.put(Fresh.BARE, Bare::new);
        makers.put(Fresh.TEXTBOOK, Textbook::new);
        makers.put(Fresh.HAND_WRITTEN, HandWritten::new);
        makers.put(Fresh.OURS, pool -> new Ours(pool, RunOptions.standard()));
        try (var proxy = ground.proxy()) {
            var ways = new Interleaved();
            for (var each : makers.entrySet()) {
                var pool = ground.poolThrough(proxy, Isolation.READ_COMMITTED);
                ways.add(each.getKey(), each.getValue().on(pool));
            }
            var direct = ground.pool(1, Isolation.READ_COMMITTED);
            var held = ground.poolThrough(proxy, Isolation.READ_COMMITTED);
            ways.add("SELECT 1, direct", () -> () -> select(direct));
            ways.add("SELECT 1", () -> () -> select(held));
            proxy.delay(delay.dividedBy(2));
            report.progress("round trips" + at);
            ways.run(ground, report, effort, BLOCK);
            report.add(
                    "microseconds added to a trip" + at,
                    "proxy",
                    ways.moreMicros("SELECT 1", "SELECT 1, direct"));
            for (String name : makers.keySet()) {
                if (!name.equals(Fresh.BARE)) {
                    report.add("p50 against bare" + at, name, ways.against(name, Fresh.BARE));
                }
            }
            report.add(
                    "p50 against textbook" + at,
                    Fresh.OURS,
                    ways.against(Fresh.OURS, Fresh.TEXTBOOK));
            proxy.pass();
        }
    }

    private static void select(DataSource pool) throws Exception {
        try (var connection = pool.getConnection();
                var select = connection.prepareStatement("SELECT 1")) {
            select.execute();
        }
    }
}
