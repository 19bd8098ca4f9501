package io.onlyonce.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Writes the generated parts of {@code docs/performance.md} and its pictures, from the runs kept in
 * {@code docs/performance} and the last one in {@code build}; with {@code keep} the last one is
 * kept too: {@code gradle report -Pargs=keep}.
 */
public final class Page {

    private static final Path DOC = Path.of("docs", "performance.md");
    private static final Path FOLDER = Path.of("docs", "performance");
    private static final Path BUILD = Path.of("build");

    /** A table of the page: the rows of a comparison whose measures begin like this. */
    private record Table(String part, String comparison, String... measures) {}

    private static final List<Table> TABLES =
            List.of(
                    new Table(
                            "fresh", "fresh", "p50 against", "throughput", "bytes", "WAL against"),
                    new Table("network", "network", "microseconds", "p50"),
                    new Table("replay", "replay", "replay, round trips", "replay, p50"),
                    new Table("in-flight", "in-flight", "p"),
                    new Table("contention", "contention", "p"),
                    new Table("pressure", "pressure", "un"),
                    new Table("false-aborts", "false-aborts", "% rolled back"),
                    new Table("growth", "growth", "claim", "command"),
                    new Table("hashing", "hashing", "hashing"),
                    new Table("peers", "peers", "p50", "replay"),
                    new Table("relay", "relay", "speed"),
                    new Table("order", "order", "%"),
                    new Table("latency", "latency", "p"),
                    new Table("snapshot", "snapshot", "speed"),
                    new Table("inbox", "inbox", "round trips", "500"));

    private final List<Results> runs;

    Page(List<Results> runs) {
        this.runs = List.copyOf(runs);
    }

    public static void main(String[] args) throws IOException {
        Optional<Results> latest = Results.latest(BUILD);
        if (List.of(args).contains("keep")) {
            latest.orElseThrow(() -> new IllegalStateException("run ./gradlew compare first"))
                    .keep(FOLDER);
        }
        List<Results> runs = new ArrayList<>(Results.kept(FOLDER));
        latest.filter(last -> runs.stream().noneMatch(run -> isSame(run, last)))
                .ifPresent(runs::add);
        if (runs.isEmpty()) {
            throw new IllegalStateException(
                    "There is nothing to report: run ./gradlew compare first");
        }
        var page = new Page(runs);
        Files.writeString(DOC, page.fill(Files.readString(DOC)));
        for (var picture : page.pictures().entrySet()) {
            Files.createDirectories(FOLDER);
            Files.writeString(FOLDER.resolve(picture.getKey() + ".svg"), picture.getValue());
        }
    }

    private static boolean isSame(Results run, Results other) {
        return run.measuredAt().equals(other.measuredAt());
    }

    /** The page with its generated parts replaced; a part that it has no place for is left out. */
    String fill(String page) {
        String filled = part(page, "runs", runs());
        filled = part(filled, "counted", counted());
        filled = part(filled, "goals", goals());
        for (Table table : TABLES) {
            filled = part(filled, table.part(), table(table));
        }
        return filled;
    }

    private static String part(String page, String name, String content) {
        String begin = "<!-- generated: " + name + " -->\n";
        int from = page.indexOf(begin);
        if (from < 0) {
            return page;
        }
        int to = page.indexOf("<!-- end -->", from);
        if (to < 0) {
            throw new IllegalStateException("the part " + name + " has no end");
        }
        return page.substring(0, from + begin.length()) + content + page.substring(to);
    }

    private String runs() {
        var text = new StringBuilder();
        for (int i = 0; i < runs.size(); i++) {
            Results run = runs.get(i);
            text.append("- run ").append(i + 1).append(": ").append(run.measuredAt());
            run.comparisons().stream()
                    .map(Report.Content::server)
                    .distinct()
                    .forEach(server -> text.append(", PostgreSQL ").append(server));
            text.append('\n');
        }
        return text.toString();
    }

    private String counted() {
        Results run = runs.get(runs.size() - 1);
        List<String> variants =
                List.of("bare", "textbook", "hand-written", "OnlyOnce", "OnlyOnce, SERIALIZABLE");
        var text = new StringBuilder("| per fresh command | " + String.join(" | ", variants));
        text.append(" |\n|---").append("|---".repeat(variants.size())).append("|\n");
        for (String measure :
                List.of(
                        "round trips",
                        "row versions",
                        "dead row versions",
                        "dead, of them heap-only",
                        "WAL, bytes")) {
            text.append("| ").append(measure);
            for (String variant : variants) {
                String value =
                        run.value("fresh", measure, variant)
                                .map(s -> Spread.brief(s.median()))
                                .orElse("\u2013");
                text.append(" | ").append(value);
            }
            text.append(" |\n");
        }
        return text.toString();
    }

    /** Met only if every run met it. */
    String goals() {
        var text = new StringBuilder("| measure | goal |" + heads() + " |\n");
        text.append("|---|---").append("|---".repeat(runs.size())).append("|---|\n");
        for (Goal goal : Goal.ALL) {
            List<Optional<Spread>> values =
                    runs.stream()
                            .map(
                                    run ->
                                            run.value(
                                                    goal.comparison(),
                                                    goal.measure(),
                                                    goal.variant()))
                            .toList();
            boolean measured = values.stream().anyMatch(Optional::isPresent);
            boolean met = values.stream().flatMap(Optional::stream).allMatch(goal::isMet);
            text.append("| ").append(goal.says()).append(" | ").append(goal.sign());
            values.forEach(value -> text.append(" | ").append(cell(value)));
            text.append(" | ").append(!measured ? "not measured" : met ? "met" : "**missed**");
            text.append(" |\n");
        }
        return text.toString();
    }

    private String heads() {
        var text = new StringBuilder();
        for (int i = 1; i <= runs.size(); i++) {
            text.append(" run ").append(i).append(" |");
        }
        return text.toString();
    }

    private String table(Table table) {
        Set<List<String>> keys = new LinkedHashSet<>();
        for (String begin : table.measures()) {
            for (Results run : runs) {
                for (Report.Row row : run.rows(table.comparison())) {
                    if (row.measure().startsWith(begin)) {
                        keys.add(List.of(row.measure(), row.variant()));
                    }
                }
            }
        }
        var text = new StringBuilder("| measure | variant |" + heads() + "\n");
        text.append("|---|---").append("|---".repeat(runs.size())).append("|\n");
        for (List<String> key : keys) {
            String cells =
                    runs.stream()
                            .map(run -> cell(run.value(table.comparison(), key.get(0), key.get(1))))
                            .collect(Collectors.joining(" | "));
            text.append("| %s | %s | %s |\n".formatted(key.get(0), key.get(1), cells));
        }
        return text.toString();
    }

    private static String cell(Optional<Spread> value) {
        return value.map(spread -> spread.cell() + ", n = " + spread.n()).orElse("\u2013");
    }

    /** By name, from the last run. */
    Map<String, String> pictures() {
        Map<String, Chart> charts = new LinkedHashMap<>();
        charts.put(
                "fresh",
                chart(
                        "A fresh command: p50 as a multiple of the bare transaction",
                        "less is better",
                        "fresh",
                        "p50 against bare"));
        charts.put(
                "network",
                chart(
                        "The same with 0.5 ms added to every round trip",
                        "less is better",
                        "network",
                        "p50 against bare at 0.5 ms"));
        charts.put(
                "pressure",
                chart(
                        "Unrelated throughput kept while 32 callers repeat one command",
                        "more is better; 1 is no harm done",
                        "pressure",
                        "unrelated throughput kept"));
        charts.put(
                "growth",
                chart(
                        "The claim as a multiple of the one in a table of 10,000 rows",
                        "less is better; 1 is no growth",
                        "growth",
                        "claim, p50"));
        charts.put(
                "relay",
                chart("Draining an outbox, rows per second", "more is better", "relay", "rows/s"));
        charts.put(
                "peers",
                chart(
                        "Libraries: p50 of a fresh command as a multiple of the bare transaction",
                        "less is better; they promise different things",
                        "peers",
                        "p50 against bare"));
        Map<String, String> pictures = new LinkedHashMap<>();
        charts.forEach(
                (name, chart) -> {
                    if (!chart.isEmpty()) {
                        pictures.put(name, chart.svg());
                    }
                });
        return pictures;
    }

    private Chart chart(String title, String note, String comparison, String measure) {
        var chart = new Chart(title, note + "; the thin line is the middle half");
        for (Report.Row row : runs.get(runs.size() - 1).rows(comparison)) {
            if (row.measure().startsWith(measure)) {
                chart.bar(row.variant(), row.value());
            }
        }
        return chart;
    }
}
