package io.onlyonce.compare;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs comparisons: {@code gradle compare -Pargs="pressure fresh"}, or all of them. */
public final class Compare {

    static final Map<String, Comparison> KNOWN = new LinkedHashMap<>();

    static {
        KNOWN.put("fresh", new Fresh());
        KNOWN.put("network", new Network());
        KNOWN.put("replay", new Replay());
        KNOWN.put("in-flight", new InFlight());
        KNOWN.put("contention", new Contention());
        KNOWN.put("pressure", new Pressure());
        KNOWN.put("false-aborts", new FalseAborts());
        KNOWN.put("growth", new Growth());
        KNOWN.put("hashing", new Hashing());
        KNOWN.put("peers", new Peers());
        KNOWN.put("relay", new Relay());
        KNOWN.put("order", new Order());
        KNOWN.put("latency", new Latency());
        KNOWN.put("snapshot", new Snapshot());
        KNOWN.put("inbox", new Messages());
        KNOWN.put("purge", new Purge());
    }

    /** Measures on an empty ground of its own. */
    interface Comparison {
        void run(Ground ground, Report report, Effort effort) throws Exception;
    }

    private Compare() {}

    /** Names of comparisons, {@code rounds=9} for more or fewer than usual, or {@code brief}. */
    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        Effort effort = words.contains("brief") ? Effort.brief() : Effort.usual(rounds(words));
        List<String> names =
                words.stream()
                        .filter(word -> !word.contains("=") && !word.equals("brief"))
                        .filter(word -> !word.equals("all"))
                        .toList();
        for (String name : names) {
            if (!KNOWN.containsKey(name)) {
                throw new IllegalArgumentException(
                        "There is no comparison " + name + "; choose from " + KNOWN.keySet());
            }
        }
        if (names.isEmpty()) {
            Report.forgetAll(); // a whole run is made of one run's results
        }
        for (String name : names.isEmpty() ? KNOWN.keySet() : names) {
            try (var ground = Ground.open()) {
                run(ground, name, effort).finish();
            }
        }
    }

    /** Runs one of them and returns what it found. */
    static Report run(Ground ground, String name, Effort effort) throws Exception {
        long start = System.nanoTime();
        var report = new Report(name, ground.version());
        KNOWN.get(name).run(ground, report, effort);
        report.progress("took %d s".formatted((System.nanoTime() - start) / 1_000_000_000));
        return report;
    }

    private static int rounds(List<String> words) {
        return words.stream()
                .filter(word -> word.startsWith("rounds="))
                .mapToInt(word -> Integer.parseInt(word.substring("rounds=".length())))
                .findFirst()
                .orElse(7);
    }
}
