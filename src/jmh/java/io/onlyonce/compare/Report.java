package io.onlyonce.compare;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/** What a comparison found: said line by line while it runs, then as a table and as JSON. */
final class Report {

    /** One line of the table. */
    record Row(String measure, String variant, Spread value, String goal) {}

    record Content(String name, String server, String measuredAt, List<Row> rows) {}

    private final String name;
    private final String server;
    private final String measuredAt = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    private final List<Row> rows = new ArrayList<>();

    Report(String name, String server) {
        this.name = name;
        this.server = server;
    }

    void progress(String line) {
        System.out.println(name + ": " + line);
    }

    void add(String measure, String variant, Spread value) {
        add(measure, variant, value, "");
    }

    void add(String measure, String variant, Spread value, String goal) {
        rows.add(new Row(measure, variant, value, goal));
    }

    Content content() {
        return new Content(name, server, measuredAt, rows);
    }

    /** Removes what earlier comparisons wrote. */
    static void forgetAll() throws IOException {
        for (String each : Compare.KNOWN.keySet()) {
            Files.deleteIfExists(file(each));
        }
    }

    private static Path file(String name) {
        return Path.of("build", "compare-" + name + ".json");
    }

    /** Prints the table and writes {@code build/compare-<name>.json}. */
    void finish() throws IOException {
        System.out.println();
        System.out.println(name + " on PostgreSQL " + server + ": median (middle half, n)");
        for (Row row : rows) {
            System.out.printf(
                    "  %-34s %-44s %-36s %s%n",
                    row.measure(), row.variant(), row.value(), row.goal());
        }
        System.out.println();
        Path file = file(name);
        Files.createDirectories(file.getParent());
        JsonMapper.builder()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .build()
                .writeValue(file.toFile(), content());
    }
}
