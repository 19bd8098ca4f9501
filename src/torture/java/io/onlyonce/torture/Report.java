package io.onlyonce.torture;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Counts what happened in the histories of a seed, and says it. */
final class Report {

    private final long seed;
    private final int first;
    private final Map<String, Integer> faults = new TreeMap<>();
    private final Map<String, Integer> answers = new TreeMap<>();
    private final Map<String, Integer> removed = new TreeMap<>();
    private final long began = System.nanoTime();
    private int histories;

    Report(long seed, int first) {
        this.seed = seed;
        this.first = first;
    }

    synchronized Totals add(Ground.Wave wave) {
        histories += wave.evidence().size();
        if (wave.restarted()) {
            count(faults, Cell.RESTART.label());
        }
        for (Evidence evidence : wave.evidence()) {
            evidence.lines().forEach(this::add);
            for (String table : List.of("command", "event", "message")) {
                evidence.table(table).stream()
                        .map(row -> row.get("gone_by"))
                        .filter(by -> !by.isEmpty())
                        .forEach(
                                by ->
                                        count(
                                                removed,
                                                by.startsWith("purge")
                                                        ? table + " purged"
                                                        : table + " replaced"));
            }
        }
        return totals();
    }

    private void add(HistoryFile.Line line) {
        switch (line.what()) {
            case "fault" -> count(faults, line.get(0) + " " + line.get(1) + " " + line.get(2));
            case "answer" ->
                    count(answers, line.get(1) + (line.get(3).equals("true") ? " again" : ""));
            case "message" -> count(answers, "message " + line.get(1).split(":")[0]);
            default -> {}
        }
    }

    private static void count(Map<String, Integer> counts, String name) {
        counts.merge(name, 1, Integer::sum);
    }

    synchronized Totals totals() {
        double seconds = (System.nanoTime() - began) / 1e9;
        return new Totals(
                seed,
                first,
                histories,
                seconds,
                Map.copyOf(faults),
                new TreeMap<>(answers),
                new TreeMap<>(removed));
    }

    /** A table of every cell, also of those that nothing has met yet. */
    static String table(Totals totals) {
        Map<String, List<String>> rows = new LinkedHashMap<>();
        List<Cell> cells = new ArrayList<>(Cell.ALL);
        cells.sort(Comparator.comparing(Cell::site)); // which keeps the order otherwise
        cells.add(Cell.RESTART);
        for (Cell cell : cells) {
            rows.computeIfAbsent(
                            say(cell.site()) + " | " + say(cell.kind()), name -> new ArrayList<>())
                    .add(say(cell.step()) + " " + struck(totals, cell));
        }
        var table = new StringBuilder("| at | fault | struck, by step |\n|---|---|---|\n");
        rows.forEach(
                (row, steps) ->
                        table.append("| %s | %s |%n".formatted(row, String.join(", ", steps))));
        Cell rarest =
                Cell.ALL.stream().min(Comparator.comparing(cell -> struck(totals, cell))).get();
        table.append(
                "%n%s; %d lost COMMIT requests, %d lost answers; %d killed, %d frozen; rarest: %s %d%n"
                        .formatted(
                                totals.progress(),
                                struck(totals, c -> isLost(c, Cell.Step.COMMIT_REQUEST)),
                                struck(totals, c -> isLost(c, Cell.Step.COMMIT_ANSWER)),
                                struck(totals, c -> c.kind() == Cell.Kind.KILL),
                                struck(totals, c -> c.kind() == Cell.Kind.FREEZE),
                                rarest.label(),
                                struck(totals, rarest)));
        table.append("answers: ").append(totals.answers()).append('\n');
        table.append("removed: ").append(totals.removed()).append('\n');
        table.append(
                "0 violations in %d histories: at a confidence of 95%% fewer than %.5f of all histories violate a promise"
                        .formatted(totals.histories(), Math.min(1, 3.0 / totals.histories())));
        return table.toString();
    }

    private static boolean isLost(Cell cell, Cell.Step step) {
        return cell.step() == step
                && List.of(Cell.Kind.CUT, Cell.Kind.SILENCE, Cell.Kind.KILL).contains(cell.kind());
    }

    private static int struck(Totals totals, Predicate<Cell> which) {
        return Cell.ALL.stream().filter(which).mapToInt(cell -> struck(totals, cell)).sum();
    }

    private static int struck(Totals totals, Cell cell) {
        return totals.faults().getOrDefault(cell.label(), 0);
    }

    private static String say(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
