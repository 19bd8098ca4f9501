package io.onlyonce.torture;

import io.onlyonce.torture.Evidence.Row;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What is promised of rows that are removed, by a purge or by a claim that finds its id forgotten.
 * Triggers have written down every removal with the server's time.
 */
final class PurgeChecker extends Checker {

    PurgeChecker(Evidence evidence, List<Violation> violations) {
        super(evidence, violations);
    }

    void check() {
        commands();
        events();
        messages();
    }

    private void commands() {
        Map<String, Life> lives = new HashMap<>();
        evidence().lines("call").forEach(l -> lives.put(l.get(1), Life.parse(l.get(4))));
        Set<String> released =
                evidence().lines("release").stream().map(l -> l.get(1)).collect(Collectors.toSet());
        for (Row row : evidence().table("command")) {
            boolean isUnresolved = row.get("status").equals("0");
            if (isGone(row) && isUnresolved) {
                require(
                        released.contains(row.get("command_id"))
                                && row.get("gone_by").equals("caller"),
                        "what is unresolved stays",
                        row + "");
            } else {
                require(
                        !isGone(row) || row.number("gone_at") >= row.number("forget_at"),
                        "nothing is purged early",
                        row + "");
                require(
                        isUnresolved || hasLife(row, lives.get(row.get("command_id"))),
                        "nothing is forgotten sooner or later than was said",
                        row + " instead of " + lives.get(row.get("command_id")));
            }
        }
        by("command", "command_id").forEach(this::again);
    }

    private static boolean isGone(Row row) {
        return !row.get("gone_by").isEmpty();
    }

    private static boolean hasLife(Row row, Life life) {
        long start = row.number("started_at");
        return life.isForEver()
                ? row.number("expires_at") == Long.MAX_VALUE / 1_000 * 1_000
                : row.number("expires_at") - start == life.ttlMillis() * 1_000
                        && row.number("forget_at") - row.number("expires_at")
                                == life.refusedMillis() * 1_000;
    }

    /** An id may do its work again, but not before it was forgotten. */
    private void again(String id, List<Row> all) {
        List<Row> rows = new ArrayList<>(all);
        rows.removeIf(row -> row.get("status").equals("0"));
        rows.sort(Comparator.comparingLong(row -> row.number("finished_at")));
        Map<String, Long> works = new HashMap<>();
        evidence().lines("work").forEach(line -> works.put(line.get(2), line.time()));
        for (int i = 1; i < rows.size(); i++) {
            long forgotten = rows.get(i - 1).number("forget_at");
            String attempt = attempt(rows.get(i));
            require(
                    works.getOrDefault(attempt, 0L) >= forgotten,
                    "an id is new only when it is forgotten",
                    id + " by " + attempt + " after " + rows.get(i - 1));
            for (Row effect : by("effect", "attempt").getOrDefault(attempt, List.of())) {
                require(
                        effect.number("at") >= forgotten,
                        "an id is new only when it is forgotten",
                        effect + " after " + rows.get(i - 1));
            }
        }
    }

    private static String attempt(Row row) {
        return CommandChecker.attempt(CommandChecker.outcome(row));
    }

    private void events() {
        for (Row row : evidence().table("event")) {
            if (isGone(row)) {
                require(row.get("state").equals("1"), "only what is published is purged", row + "");
                require(
                        row.get("settled_at") == null
                                || isKept(row, "settled_at", Purging.EVENTS_KEPT.toMillis()),
                        "nothing is purged early",
                        row + "");
            }
        }
    }

    private void messages() {
        for (Row row : evidence().table("message")) {
            if (isGone(row)) {
                require(
                        row.get("status").equals("1")
                                && isKept(row, "processed_at", Purging.MESSAGES_KEPT.toMillis()),
                        "nothing is purged early",
                        row + "");
            }
        }
    }

    private static boolean isKept(Row row, String since, long millis) {
        return row.number("gone_at") - row.number(since) >= millis * 1_000;
    }
}
