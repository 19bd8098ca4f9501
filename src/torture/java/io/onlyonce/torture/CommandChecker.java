package io.onlyonce.torture;

import io.onlyonce.torture.Evidence.Row;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What is promised of commands and of the money that they move. */
final class CommandChecker extends Checker {

    CommandChecker(Evidence evidence, List<Violation> violations) {
        super(evidence, violations);
    }

    void check() {
        commands();
        money();
    }

    /** A call with all that was written down about it. */
    private static final class Asked {
        String id = "";
        String spelling = "";
        String road = "";
        String answer = "none";
        String value = "";
        boolean replayed;
        final Set<String> attempts = new HashSet<>();

        boolean isOtherPayload() {
            return spelling.equals("OTHER_PAYLOAD");
        }
    }

    private Map<String, Asked> asked() {
        Map<String, Asked> asked = new TreeMap<>();
        for (var line : evidence().lines()) {
            switch (line.what()) {
                case "call" -> {
                    var call = asked.computeIfAbsent(line.get(0), key -> new Asked());
                    call.id = line.get(1);
                    call.spelling = line.get(2);
                    call.road = line.get(3);
                }
                case "work" -> asked.get(line.get(0)).attempts.add(line.get(2));
                case "answer" -> {
                    var call = asked.get(line.get(0));
                    call.answer = line.get(1);
                    call.value = line.get(2);
                    call.replayed = Boolean.parseBoolean(line.get(3));
                }
                default -> {}
            }
        }
        return asked;
    }

    private void commands() {
        Map<String, List<Row>> effects = by("effect", "command_id");
        Map<String, List<Row>> commands = by("command", "command_id");
        Map<String, Asked> asked = asked();
        Set<String> ids = new HashSet<>(effects.keySet());
        ids.addAll(commands.keySet());
        asked.values().forEach(call -> ids.add(call.id));
        Set<String> saidNo =
                evidence().lines("no").stream().map(l -> l.get(2)).collect(Collectors.toSet());
        for (String id : ids) {
            List<Asked> calls = asked.values().stream().filter(c -> c.id.equals(id)).toList();
            List<Row> rows = commands.getOrDefault(id, List.of());
            require(rows.size() <= 1, "one outcome", id + " has " + rows.size() + " rows");
            String stored = rows.isEmpty() ? "" : outcome(rows.get(0));
            effects(id, stored, effects.getOrDefault(id, List.of()));
            answers(id, stored, calls);
            payloads(id, stored, calls);
            misuse(id, stored, effects.getOrDefault(id, List.of()), calls);
            if (stored.startsWith("rejected ")) {
                String attempt = stored.substring(stored.indexOf(':') + 1);
                require(
                        saidNo.contains(attempt),
                        "only a business no is stored",
                        id + " is " + stored);
            }
            refused(id, stored);
        }
    }

    /** What the library would replay: the attempt that completed, or the code and its attempt. */
    private String outcome(Row row) {
        String result = String.valueOf(row.get("result"));
        return switch (row.get("status")) {
            case "1" -> "completed " + result.replaceAll("^\"|\"$", "");
            case "2" -> "rejected " + row.get("rejection_code") + ":" + result;
            default -> "unfinished";
        };
    }

    private void effects(String id, String stored, List<Row> effects) {
        Set<String> attempts =
                effects.stream().map(row -> row.get("attempt")).collect(Collectors.toSet());
        require(attempts.size() <= 1, "one set of effects", id + " by " + attempts);
        if (stored.startsWith("completed ")) {
            require(
                    effects.size() == 2 && attempts.contains(stored.substring(10)),
                    "result and effects together",
                    id + " is " + stored + ", effects of " + attempts);
        } else {
            require(
                    effects.isEmpty(),
                    "nothing of what was not completed",
                    id + " is <" + stored + ">, effects of " + attempts);
        }
        require(!stored.equals("unfinished"), "no claim without an end", id);
    }

    private void answers(String id, String stored, List<Asked> calls) {
        int fresh = 0;
        // A work that says COMMIT makes its claim durable above READ COMMITTED, and nothing else.
        boolean mayBeUnresolved = calls.stream().anyMatch(call -> call.road.equals("misuse"));
        for (Asked call : calls) {
            String said = call.answer + " " + call.value;
            boolean isFinal = call.answer.equals("completed") || call.answer.equals("rejected");
            if (isFinal) {
                require(
                        said.equals(stored),
                        "every answer is the stored one",
                        id + " said " + said + ", stored " + stored);
                fresh += call.replayed ? 0 : 1;
                if (!call.replayed) {
                    String attempt = call.value.substring(call.value.indexOf(':') + 1);
                    require(
                            call.attempts.contains(attempt),
                            "a fresh answer is one's own",
                            id + " said " + said);
                }
            }
            if (call.answer.equals("failed")) {
                require( // no table of the business has a key that a work could violate
                        !call.value.startsWith("23505"),
                        "one work at a time",
                        id + " said " + said);
                require(
                        !call.attempts.contains(stored.substring(stored.indexOf(' ') + 1)),
                        "what failed left nothing",
                        id + " said " + said + ", stored " + stored);
            }
            require(
                    !call.answer.equals("expired")
                            && (!call.answer.equals("unresolved") || mayBeUnresolved),
                    "no answer out of nothing",
                    id + " said " + said);
        }
        require(fresh <= 1, "one fresh answer", id + " has " + fresh);
    }

    /** Who won the claim decides which payload the id stands for. */
    private void payloads(String id, String stored, List<Asked> calls) {
        if (stored.isEmpty()) {
            return;
        }
        boolean other = stored.contains("#OTHER_PAYLOAD#");
        // A claim that was left unresolved by one payload may have been released for the other.
        boolean wasOther =
                calls.stream()
                        .anyMatch(c -> c.road.equals("misuse") && c.isOtherPayload() != other);
        for (Asked call : calls) {
            boolean same = call.isOtherPayload() == other;
            boolean isFinal = call.answer.equals("completed") || call.answer.equals("rejected");
            require(!isFinal || same, "another payload is refused", id + " by " + call.spelling);
            require(
                    !call.answer.equals("mismatch") || !same || wasOther,
                    "the same payload is known again",
                    id + " by " + call.spelling);
        }
    }

    private void misuse(String id, String stored, List<Row> effects, List<Asked> calls) {
        for (Asked call : calls) {
            if (call.road.equals("misuse")) {
                boolean isStored = call.attempts.stream().anyMatch(a -> stored.endsWith(a));
                boolean isVisible =
                        effects.stream()
                                .anyMatch(row -> call.attempts.contains(row.get("attempt")));
                require(
                        !isStored && !isVisible,
                        "the finish proves ownership",
                        id + ": " + call.attempts);
            }
        }
    }

    private void refused(String id, String stored) {
        List<Row> rows = by("refused", "command_id").getOrDefault(id, List.of());
        boolean isRejected = stored.startsWith("rejected ");
        require(
                rows.size() == (isRejected ? 1 : 0),
                "a no is kept once",
                id + " is <" + stored + ">, kept " + rows.size());
    }

    private void money() {
        long sum = 0;
        for (Row account : evidence().table("account")) {
            List<Row> effects = by("effect", "account").getOrDefault(account.get("id"), List.of());
            long expected =
                    Plan.OPENING_BALANCE
                            + effects.stream().mapToLong(row -> row.number("delta")).sum();
            require(
                    account.number("balance") == expected
                            && account.number("version") == effects.size(),
                    "accounts are what was done to them",
                    account + " but " + effects);
            sum += account.number("balance");
        }
        long expected = Plan.ACCOUNTS.size() * Plan.OPENING_BALANCE;
        require(sum == expected, "money is conserved", sum + " instead of " + expected);
    }
}
