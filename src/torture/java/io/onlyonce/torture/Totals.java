package io.onlyonce.torture;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a run has counted, in a small file of its own, so that runs with different seeds add up. The
 * same seed from the same history on is the same run, and replaces its file.
 */
record Totals(
        long seed,
        int first,
        int histories,
        double seconds,
        Map<String, Integer> faults,
        Map<String, Integer> answers,
        Map<String, Integer> removed) {

    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    void write(Path folder) throws IOException {
        JSON.writeValue(folder.resolve("total-%d-%d.json".formatted(seed, first)).toFile(), this);
    }

    /** All that lie in this folder. */
    static List<Totals> read(Path folder) throws IOException {
        List<Totals> all = new ArrayList<>();
        try (var files = Files.newDirectoryStream(folder, "total-*.json")) {
            for (Path file : files) {
                all.add(JSON.readValue(file.toFile(), Totals.class));
            }
        }
        return all;
    }

    static Totals sum(List<Totals> all) {
        Map<String, Integer> faults = new TreeMap<>();
        Map<String, Integer> answers = new TreeMap<>();
        Map<String, Integer> removed = new TreeMap<>();
        int histories = 0;
        double seconds = 0;
        for (Totals each : all) {
            histories += each.histories();
            seconds += each.seconds();
            each.faults().forEach((name, n) -> faults.merge(name, n, Integer::sum));
            each.answers().forEach((name, n) -> answers.merge(name, n, Integer::sum));
            each.removed().forEach((name, n) -> removed.merge(name, n, Integer::sum));
        }
        return new Totals(0, 0, histories, seconds, faults, answers, removed);
    }

    int struck() {
        return faults.values().stream().mapToInt(Integer::intValue).sum();
    }

    String progress() {
        return "%d histories, %d faults, %.0f s, %.1f histories/s"
                .formatted(histories, struck(), seconds, histories / seconds);
    }
}
