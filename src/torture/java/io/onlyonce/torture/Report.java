package io.onlyonce.torture;

import java.util.Map;
import java.util.TreeMap;

/** Counts what happened: faults by cell, answers by kind. */
final class Report {

    private final Map<String, Integer> faults = new TreeMap<>();
    private final Map<String, Integer> answers = new TreeMap<>();
    private final long began = System.nanoTime();
    private int histories;

    void add(Ground.Wave wave) {
        histories += wave.evidence().size();
        if (wave.restarted()) {
            faults.merge(Cell.RESTART.label(), 1, Integer::sum);
        }
        for (Evidence evidence : wave.evidence()) {
            for (var line : evidence.lines()) {
                switch (line.what()) {
                    case "fault" ->
                            faults.merge(
                                    line.get(0) + " " + line.get(1) + " " + line.get(2),
                                    1,
                                    Integer::sum);
                    case "answer" ->
                            answers.merge(
                                    line.get(1) + (line.get(3).equals("true") ? " again" : ""),
                                    1,
                                    Integer::sum);
                    case "message" ->
                            answers.merge("message " + line.get(1).split(":")[0], 1, Integer::sum);
                    default -> {}
                }
            }
        }
    }

    int histories() {
        return histories;
    }

    double seconds() {
        return (System.nanoTime() - began) / 1e9;
    }

    String progress() {
        int struck = faults.values().stream().mapToInt(Integer::intValue).sum();
        return "%d histories, %d faults, %.0f s, %.1f histories/s"
                .formatted(histories, struck, seconds(), histories / seconds());
    }

    /** A table of every cell, also of those that nothing has met yet. */
    String table() {
        var table = new StringBuilder("| site | fault | step | struck |\n|---|---|---|---|\n");
        for (Cell cell : Cell.ALL) {
            row(table, cell);
        }
        row(table, Cell.RESTART);
        table.append("\nanswers: ").append(answers).append('\n');
        return table.toString();
    }

    private void row(StringBuilder table, Cell cell) {
        table.append(
                "| %s | %s | %s | %d |\n"
                        .formatted(
                                say(cell.site()),
                                say(cell.kind()),
                                say(cell.step()),
                                faults.getOrDefault(cell.label(), 0)));
    }

    private static String say(Enum<?> name) {
        return name.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }
}
