package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A command that nobody has sent before, one caller: time against the bare transaction, interleaved
 * operation by operation, and what is counted rather than timed.
 */
final class Fresh implements Compare.Comparison {

    static final String BARE = "bare";
    static final String BARE_SERIALIZABLE = "bare, SERIALIZABLE";
    private static final int BLOCK = 400;

    /** One way, made on a pool of the level that it runs at. */
    record Contender(
            String name, Isolation isolation, String against, String goal, Variant.Maker maker) {}

    static List<Contender> contenders() {
        RunOptions standard = RunOptions.standard();
        RunOptions serializable = standard.withTransaction(TransactionOptions.serializable());
        return List.of(
                new Contender(BARE, Isolation.READ_COMMITTED, BARE, "", Bare::new),
                new Contender("textbook", Isolation.READ_COMMITTED, BARE, "", Textbook::new),
                new Contender(
                        "OnlyOnce",
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
    public void run(Ground ground, Report report, int rounds) throws Exception {
        new FreshCounts(ground, report).run(rounds);
        time(ground, report, rounds);
    }

    private static void time(Ground ground, Report report, int rounds) throws Exception {
        Map<String, Variant> variants = new LinkedHashMap<>();
        for (Contender each : contenders()) {
            variants.put(each.name(), each.maker().on(ground.pool(1, each.isolation())));
        }
        report.progress("warming up");
        for (int i = 0; i < 3; i++) {
            block(variants);
        }
        Map<String, List<Double>> medians = new LinkedHashMap<>();
        variants.keySet().forEach(name -> medians.put(name, new ArrayList<>()));
        int blocks = Math.max(5, rounds);
        for (int i = 1; i <= blocks; i++) {
            block(variants).forEach((name, nanos) -> medians.get(name).add(Spread.median(nanos)));
            report.progress("block %d of %d, %d times each".formatted(i, blocks, BLOCK));
        }
        for (Contender each : contenders()) {
            if (!each.name().equals(each.against())) {
                var ratios = ratios(medians.get(each.name()), medians.get(each.against()));
                report.add("p50 against " + each.against(), each.name(), ratios, each.goal());
            }
        }
        for (Contender each : contenders().subList(2, 4)) {
            var ratios = ratios(medians.get(each.name()), medians.get("textbook"));
            report.add("p50 against textbook", each.name(), ratios);
        }
    }

    private static Spread ratios(List<Double> values, List<Double> baseline) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            ratios.add(values.get(i) / baseline.get(i));
        }
        return Spread.of(ratios);
    }

    /** Every variant once, in an order that changes each time, and that again and again. */
    private static Map<String, long[]> block(Map<String, Variant> variants) throws Exception {
        var random = new Random(BLOCK);
        List<String> order = new ArrayList<>(variants.keySet());
        Map<String, long[]> nanos = new LinkedHashMap<>();
        order.forEach(name -> nanos.put(name, new long[BLOCK]));
        for (int i = 0; i < BLOCK; i++) {
            Collections.shuffle(order, random);
            for (String name : order) {
                int account = random.nextInt(Business.ACCOUNTS);
                String id = Business.id();
                long start = System.nanoTime();
                variants.get(name).run(id, account);
                nanos.get(name)[i] = System.nanoTime() - start;
            }
        }
        return nanos;
    }
}
