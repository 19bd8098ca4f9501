package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A command that nobody has sent before, one caller: time against the bare transaction, interleaved
 * operation by operation, and what is counted rather than timed.
 */
final class Fresh implements Compare.Comparison {

    static final String BARE = "bare";
    static final String BARE_SERIALIZABLE = "bare, SERIALIZABLE";
    static final String TEXTBOOK = "textbook";
    static final String HAND_WRITTEN = "hand-written";
    static final String OURS = "OnlyOnce";
    private static final int BLOCK = 400;
    private static final int THREADS = 8;
    private static final Duration WINDOW = Duration.ofMillis(1_500);

    /** One way, made on a pool of the level that it runs at. */
    record Contender(
            String name, Isolation isolation, String against, String goal, Variant.Maker maker) {}

    static List<Contender> contenders() {
        RunOptions standard = RunOptions.standard();
        RunOptions serializable = standard.withTransaction(TransactionOptions.serializable());
        return List.of(
                new Contender(BARE, Isolation.READ_COMMITTED, BARE, "", Bare::new),
                new Contender(TEXTBOOK, Isolation.READ_COMMITTED, BARE, "", Textbook::new),
                new Contender(HAND_WRITTEN, Isolation.READ_COMMITTED, BARE, "", HandWritten::new),
                new Contender(
                        OURS,
                        Isolation.READ_COMMITTED,
                        BARE,
                        "goal: 1.42 or less",
                        pool -> new Ours(pool, standard)),
                new Contender(
                        "OnlyOnce, without rejections",
                        Isolation.READ_COMMITTED,
                        BARE,
                        "",
                        pool -> new Ours(pool, standard.withoutRejections())),
                new Contender(
                        BARE_SERIALIZABLE,
                        Isolation.SERIALIZABLE,
                        BARE_SERIALIZABLE,
                        "",
                        Bare::new),
                new Contender(
                        "OnlyOnce, SERIALIZABLE",
                        Isolation.SERIALIZABLE,
                        BARE_SERIALIZABLE,
                        "goal: 1.55 or less",
                        pool -> new Ours(pool, serializable)));
    }

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        new FreshCounts(ground, report).run(effort);
        time(ground, report, effort);
        throughput(ground, report, effort);
    }

    private static void time(Ground ground, Report report, Effort effort) throws Exception {
        var ways = new Interleaved();
        for (Contender each : contenders()) {
            ways.add(each.name(), each.maker().on(ground.pool(1, each.isolation())));
        }
        ways.run(ground, report, effort, BLOCK);
        for (Contender each : contenders()) {
            report.add("p50, microseconds", each.name(), ways.micros(each.name()));
            if (!each.name().equals(each.against())) {
                report.add(
                        "p50 against " + each.against(),
                        each.name(),
                        ways.against(each.name(), each.against()),
                        each.goal());
            }
        }
        report.add("p50 against textbook", OURS, ways.against(OURS, TEXTBOOK));
        report.add("p50 against hand-written", OURS, ways.against(OURS, HAND_WRITTEN));
        report.add(
                "bytes allocated, more than hand-written",
                OURS,
                ways.moreBytes(OURS, HAND_WRITTEN));
        report.add("bytes allocated, more than bare", OURS, ways.moreBytes(OURS, BARE));
    }

    private static void throughput(Ground ground, Report report, Effort effort) throws Exception {
        Map<String, Variant> variants = new LinkedHashMap<>();
        for (Contender each : contenders()) {
            if (each.isolation() == Isolation.READ_COMMITTED) {
                variants.put(each.name(), each.maker().on(ground.pool(THREADS, each.isolation())));
            }
        }
        Map<String, List<Double>> done = new LinkedHashMap<>();
        List<String> order = new ArrayList<>(variants.keySet());
        for (int round = effort.isBrief() ? 1 : 0;
                round <= effort.rounds();
                round++) { // 0 warms up
            Collections.rotate(order, 1);
            for (String name : order) {
                var window = new Window(variants.get(name), effort.of(WINDOW), THREADS).run();
                if (round > 0) {
                    done.computeIfAbsent(name, key -> new ArrayList<>())
                            .add((double) window.done());
                }
            }
            report.progress("throughput, round %d: %s".formatted(round, done));
        }
        for (String name : variants.keySet()) {
            if (!name.equals(TEXTBOOK)) {
                report.add(
                        "throughput of 8 threads against textbook",
                        name,
                        Spread.ratios(done.get(name), done.get(TEXTBOOK)));
            }
        }
    }
}
