package io.onlyonce.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Runs comparisons: {@code gradle compare -Pargs="pressure false-aborts fresh"}, or "all". */
public final class Compare {

    private static final Map<String, Comparison> KNOWN = new LinkedHashMap<>();

    static {
        KNOWN.put("pressure", new Pressure());
        KNOWN.put("false-aborts", new FalseAborts());
        KNOWN.put("fresh", new Fresh());
        KNOWN.put("relay", new Relay());
        KNOWN.put("order", new Order());
        KNOWN.put("latency", new Latency());
        KNOWN.put("snapshot", new Snapshot());
        KNOWN.put("inbox", new Messages());
        KNOWN.put("purge", new Purge());
    }

    /** Measures on an empty ground of its own. */
    interface Comparison {
        void run(Ground ground, Report report, int rounds) throws Exception;
    }

    private Compare() {}

    /** Names of comparisons, and {@code rounds=9} for more or fewer than usual. */
    public static void main(String[] args) throws Exception {
        int rounds =
                Stream.of(args)
                        .filter(arg -> arg.startsWith("rounds="))
                        .mapToInt(arg -> Integer.parseInt(arg.substring("rounds=".length())))
                        .findFirst()
                        .orElse(7);
        List<String> names = Stream.of(args).filter(arg -> !arg.contains("=")).toList();
        if (names.isEmpty() || names.contains("all")) {
            names = List.copyOf(KNOWN.keySet());
        }
        for (String name : names) {
            if (!KNOWN.containsKey(name)) {
                throw new IllegalArgumentException(
                        "There is no comparison " + name + "; choose from " + KNOWN.keySet());
            }
        }
        for (String name : names) {
            try (var ground = Ground.open()) {
                var report = new Report(name, ground.version());
                KNOWN.get(name).run(ground, report, rounds);
                report.finish();
            }
        }
    }
}
