package io.onlyonce.command;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Counts what the schedules came to, so that one can see that they went everywhere. */
final class ScheduleTally {

    private final Map<String, Long> counts = new TreeMap<>();
    private long schedules;
    private long steps;

    void count(String what) {
        counts.merge(what, 1L, Long::sum);
    }

    void schedule(int steps) {
        schedules++;
        this.steps += steps;
    }

    long schedules() {
        return schedules;
    }

    /** How often this was counted. */
    long of(String what) {
        return counts.getOrDefault(what, 0L);
    }

    @Override
    public String toString() {
        return "%,d schedules, %,d steps%n".formatted(schedules, steps)
                + counts.entrySet().stream()
                        .map(e -> "%,12d  %s%n".formatted(e.getValue(), e.getKey()))
                        .collect(Collectors.joining());
    }
}
