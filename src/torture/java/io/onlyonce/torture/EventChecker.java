package io.onlyonce.torture;

import io.onlyonce.torture.Evidence.Row;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What is promised of events, of their order, and of the messages that they become. */
final class EventChecker extends Checker {

    EventChecker(Evidence evidence, List<Violation> violations) {
        super(evidence, violations);
    }

    void check() {
        events();
        order();
        inbox();
    }

    private void events() {
        Map<String, List<Row>> delivered = by("broker", "event_key");
        Map<String, Row> committed = new HashMap<>();
        evidence().table("event").forEach(row -> committed.put(row.get("event_key"), row));
        Set<String> wanted = new HashSet<>();
        for (Row effect : evidence().table("effect")) {
            wanted.add(
                    "moved:%s:%s:%s"
                            .formatted(
                                    effect.get("command_id"),
                                    effect.get("account"),
                                    effect.get("version")));
        }
        require(
                committed.keySet().equals(wanted),
                "events and effects together",
                "events " + committed.keySet() + " for effects " + wanted);
        Map<String, Integer> charges = new HashMap<>();
        evidence().lines("charge").forEach(line -> charges.merge(line.get(0), 1, Integer::sum));
        for (Row event : committed.values()) {
            String key = event.get("event_key");
            require(event.get("state").equals("1"), "every event is published", event + "");
            require(delivered.containsKey(key), "every event is delivered", key + " never was");
            require(
                    event.number("attempts") <= charges.getOrDefault(key, 0),
                    "only the guilty are charged",
                    event + " failed " + charges.getOrDefault(key, 0) + " times");
        }
        delivered.forEach(
                (key, rows) -> {
                    Set<String> ids =
                            rows.stream()
                                    .map(row -> row.get("event_id"))
                                    .collect(Collectors.toSet());
                    String id =
                            committed.containsKey(key) ? committed.get(key).get("event_id") : "";
                    require(
                            ids.equals(Set.of(id)),
                            "one identity of an event",
                            key + " came as " + ids + ", committed as <" + id + ">");
                });
    }

    /** Accounts are locked before events are appended, so their versions are the commit order. */
    private void order() {
        Map<String, Long> last = new HashMap<>();
        Set<String> known = new HashSet<>();
        for (Row row : evidence().table("broker")) {
            if (known.add(row.get("event_id"))) {
                long before = last.getOrDefault(row.get("account"), 0L);
                require(
                        row.number("version") == before + 1,
                        "first deliveries are in order",
                        row.get("account") + ": " + row.number("version") + " after " + before);
                last.put(row.get("account"), row.number("version"));
            }
        }
    }

    private void inbox() {
        Map<String, List<Row>> seen = by("seen", "event_id");
        Map<String, List<Row>> messages = by("message", "message_id");
        Map<String, Integer> processed = new HashMap<>();
        for (var line : evidence().lines("message")) {
            if (line.get(1).equals("Processed")) {
                processed.merge(line.get(0), 1, Integer::sum);
            }
            require(
                    !line.get(1).equals("IdentityViolation"),
                    "the same message is known again",
                    line.get(0));
        }
        for (Row row : evidence().table("broker")) {
            String id = row.get("event_id");
            int times = seen.getOrDefault(id, List.of()).size();
            int marked = messages.getOrDefault(id, List.of()).size(); // again after each purge
            require(
                    times == marked,
                    "every message has one effect",
                    id + " has " + times + " of " + marked);
            require(marked > 0, "every message is marked", id);
            require(
                    processed.getOrDefault(id, 0) <= marked,
                    "one is told that it processed it",
                    id + ": " + processed.get(id));
        }
        for (Row projection : evidence().table("projection")) {
            List<Row> account = by("account", "id").get(projection.get("id"));
            require(
                    account.get(0).get("balance").equals(projection.get("balance")),
                    "the projection is the fold of the events",
                    projection + " but " + account);
        }
        for (Row account : evidence().table("account")) {
            long followed =
                    by("followed", "aggregate_id")
                            .getOrDefault(account.get("id"), List.of())
                            .stream()
                            .mapToLong(row -> row.number("version"))
                            .sum();
            require(
                    followed == account.number("version"),
                    "the projection has followed every version",
                    account + " followed to " + followed);
        }
        for (var line : evidence().lines("forged")) {
            require( // it is in flight for others while a purge has its row in hand
                    line.get(1).equals("violation")
                            || line.get(1).equals("InFlight")
                            || line.get(1).startsWith("Failed"),
                    "a forged message is refused",
                    line.rest() + "");
        }
        for (var line : evidence().lines("accepted")) {
            require(wasPurged(line), "a forged message is refused", "accepted " + line.rest());
        }
    }

    /** True if the message of this line may have been unknown at the time. */
    private boolean wasPurged(HistoryFile.Line line) {
        return by("message", "message_id").getOrDefault(line.get(0), List.of()).stream()
                .anyMatch(row -> row.number("gone_at") <= line.time());
    }
}
