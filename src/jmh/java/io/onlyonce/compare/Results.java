package io.onlyonce.compare;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What one run of comparisons found.
 *
 * @param measuredAt when it began
 */
record Results(String measuredAt, List<Report.Content> comparisons) {

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    /** The kept runs, oldest first. */
    static List<Results> kept(Path folder) throws IOException {
        List<Results> runs = new ArrayList<>();
        for (Path file : files(folder, "run-")) {
            runs.add(JSON.readValue(file.toFile(), Results.class));
        }
        runs.sort(Comparator.comparing(Results::measuredAt));
        return runs;
    }

    /** The comparisons that have been run last; empty if none has. */
    static Optional<Results> latest(Path folder) throws IOException {
        List<Report.Content> comparisons = new ArrayList<>();
        for (Path file : files(folder, "compare-")) {
            comparisons.add(JSON.readValue(file.toFile(), Report.Content.class));
        }
        return comparisons.stream()
                .map(Report.Content::measuredAt)
                .min(Comparator.naturalOrder())
                .map(first -> new Results(first, comparisons));
    }

    /** Writes it where {@link #kept} finds it; only a whole run is worth keeping. */
    void keep(Path folder) throws IOException {
        if (comparisons.size() < Compare.KNOWN.size()) {
            throw new IllegalStateException(
                    "Only %d of %d comparisons have been run; run ./gradlew compare without arguments first"
                            .formatted(comparisons.size(), Compare.KNOWN.size()));
        }
        String name = "run-" + measuredAt.substring(0, 16).replace(":", "") + ".json";
        Files.createDirectories(folder);
        JSON.writeValue(folder.resolve(name).toFile(), this);
    }

    Optional<Spread> value(String comparison, String measure, String variant) {
        return rows(comparison).stream()
                .filter(row -> row.measure().equals(measure) && row.variant().equals(variant))
                .map(Report.Row::value)
                .findFirst();
    }

    List<Report.Row> rows(String comparison) {
        return comparisons.stream()
                .filter(each -> each.name().equals(comparison))
                .flatMap(each -> each.rows().stream())
                .toList();
    }

    private static List<Path> files(Path folder, String prefix) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (var files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().startsWith(prefix))
                    .filter(file -> file.getFileName().toString().endsWith(".json"))
                    .sorted()
                    .toList();
        }
    }
}
