package io.onlyonce.retention;

import io.onlyonce.retention.Rule.Kind;
import io.onlyonce.retention.Step.Taken;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** Counts what one run does. */
final class Tally {

    private final Map<Kind, Long> rows = new EnumMap<>(Kind.class);
    private final long start = System.nanoTime();
    private long copied;

    void add(Kind kind, Taken taken) {
        rows.merge(kind, taken.rows(), Long::sum);
        copied += taken.copied();
    }

    PurgeReport report(PurgeReport.End end, long left) {
        return new PurgeReport(
                rows.getOrDefault(Kind.COMMANDS, 0L),
                copied,
                rows.getOrDefault(Kind.TOMBSTONES, 0L),
                rows.getOrDefault(Kind.MESSAGES, 0L),
                rows.getOrDefault(Kind.EVENTS, 0L),
                rows.getOrDefault(Kind.ARCHIVE, 0L),
                left,
                end,
                Duration.ofNanos(System.nanoTime() - start));
    }

    /** The line of the log. */
    static String say(PurgeReport report) {
        return "%d commands (%d archived), %d tombstones, %d messages, %d events, %d archive rows; %s after %d ms, %d left"
                .formatted(
                        report.commands(),
                        report.archived(),
                        report.tombstones(),
                        report.messages(),
                        report.events(),
                        report.archiveRows(),
                        report.end(),
                        report.took().toMillis(),
                        report.left());
    }
}
