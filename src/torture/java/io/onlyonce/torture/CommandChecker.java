package io.onlyonce.torture;

import io.onlyonce.torture.Evidence.Row;

import java.util.HashMap;
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
        long began;
        long ended = Long.MAX_VALUE;
        final Set<String> attempts = new HashSet<>();

        boolean isOtherPayload() {
            return spelling.equals("OTHER_PAYLOAD");
        }

        boolean isFinal() {
            return answer.equals("completed") || answer.equals("rejected");
        }

        /** True if this row may have been there, and not forgotten, at some time of this call. */
        boolean mayHaveFound(Row row) {
            return row.number("started_at") <= ended && row.number("forget_at") >= began;
        }

        boolean mayHaveFoundExpired(Row row) {
            return row.number("expires_at") <= ended && row.number("forget_at") >= began;
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
                    call.began = line.time();
                }
                case "work" -> asked.get(line.get(0)).attempts.add(line.get(2));
                case "answer" -> {
                    var call = asked.get(line.get(0));
                    call.answer = line.get(1);
                    call.value = line.get(2);
                    call.replayed = Boolean.parseBoolean(line.get(3));
                    call.ended = line.time();
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
            long there = rows.stream().filter(row -> row.get("gone_by").isEmpty()).count();
            require(there <= 1, "one outcome", id + " has " + there + " rows");
            require(
                    rows.stream().noneMatch(r -> isUnfinished(r) && r.get("gone_by").isEmpty()),
                    "no claim without an end",
                    id);
            Map<String, Row> stored = new HashMap<>();
            rows.stream().filter(r -> !isUnfinished(r)).forEach(r -> stored.put(outcome(r), r));
            effects(id, stored.keySet(), effects.getOrDefault(id, List.of()));
            answers(id, stored, calls);
            payloads(id, stored, calls);
            misuse(id, stored.keySet(), effects.getOrDefault(id, List.of()), calls);
            for (String each : stored.keySet()) {
                require(
                        each.startsWith("completed ") || saidNo.contains(attempt(each)),
                        "only a business no is stored",
                        id + " is " + each);
            }
            refused(id, stored.keySet());
        }
    }

    private static boolean isUnfinished(Row row) {
        return row.get("status").equals("0");
    }

    /** What the library would replay: the attempt that completed, or the code and its attempt. */
    static String outcome(Row row) {
        String result = String.valueOf(row.get("result"));
        return switch (row.get("status")) {
            case "1" -> "completed " + result.replaceAll("^\"|\"$", "");
            case "2" -> "rejected " + row.get("rejection_code") + ":" + result;
            default -> "unfinished";
        };
    }

    /** The attempt that is told in an outcome. */
    static String attempt(String outcome) {
        return outcome.replaceFirst("^completed |^rejected [^:]*:", "");
    }

    /** An id may have had several outcomes, one after the other was forgotten; each has its own. */
    private void effects(String id, Set<String> stored, List<Row> effects) {
        Map<String, List<Row>> attempts =
                effects.stream().collect(Collectors.groupingBy(row -> row.get("attempt")));
        List<String> completed = stored.stream().filter(s -> s.startsWith("completed ")).toList();
        require(
                attempts.size() <= Math.max(1, completed.size()),
                "one set of effects",
                id + " by " + attempts.keySet());
        for (String each : completed) {
            require(
                    attempts.getOrDefault(attempt(each), List.of()).size() == 2,
                    "result and effects together",
                    id + " is " + each + ", effects of " + attempts.keySet());
        }
        for (String each : attempts.keySet()) {
            require(
                    completed.contains("completed " + each),
                    "nothing of what was not completed",
                    id + " is " + stored + ", effects of " + each);
        }
    }

    private void answers(String id, Map<String, Row> stored, List<Asked> calls) {
        Map<String, Integer> fresh = new HashMap<>();
        // A work that says COMMIT makes its claim durable above READ COMMITTED, and nothing else.
        boolean mayBeUnresolved = calls.stream().anyMatch(call -> call.road.equals("misuse"));
        for (Asked call : calls) {
            String said = call.answer + " " + call.value;
            if (call.isFinal()) {
                require(
                        stored.containsKey(said),
                        "every answer is the stored one",
                        id + " said " + said + ", stored " + stored.keySet());
                if (call.replayed && stored.containsKey(said)) {
                    require(
                            call.began < stored.get(said).number("expires_at"),
                            "an expired id is refused",
                            id + " said " + said + ", stored " + stored.get(said));
                }
                if (!call.replayed) {
                    fresh.merge(said, 1, Integer::sum);
                    require(
                            call.attempts.contains(attempt(said)),
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
                        stored.keySet().stream().noneMatch(s -> call.attempts.contains(attempt(s))),
                        "what failed left nothing",
                        id + " said " + said + ", stored " + stored.keySet());
            }
            require(
                    !call.answer.equals("unresolved") || mayBeUnresolved,
                    "no answer out of nothing",
                    id + " said " + said);
            require(
                    !call.answer.equals("expired")
                            || stored.values().stream().anyMatch(call::mayHaveFoundExpired),
                    "what is not expired is not refused",
                    id + " said " + said + ", stored " + stored.values());
        }
        require(
                fresh.values().stream().allMatch(n -> n == 1),
                "one fresh answer",
                id + ": " + fresh);
    }

    /** Who won the claim decides which payload the id stands for, until it is forgotten. */
    private void payloads(String id, Map<String, Row> stored, List<Asked> calls) {
        for (Asked call : calls) {
            String said = call.answer + " " + call.value;
            require(
                    !call.isFinal() || isOther(said) == call.isOtherPayload(),
                    "another payload is refused",
                    id + " by " + call.spelling + " said " + said);
            // A claim that was left unresolved by one payload may have been released for the other.
            boolean mayDiffer =
                    calls.stream()
                                    .anyMatch(
                                            c ->
                                                    c.road.equals("misuse")
                                                            && c.isOtherPayload()
                                                                    != call.isOtherPayload())
                            || stored.entrySet().stream()
                                    .anyMatch(
                                            e ->
                                                    isOther(e.getKey()) != call.isOtherPayload()
                                                            && call.mayHaveFound(e.getValue()));
            require(
                    !call.answer.equals("mismatch") || mayDiffer,
                    "the same payload is known again",
                    id + " by " + call.spelling + ", stored " + stored.values());
        }
    }

    private static boolean isOther(String outcome) {
        return outcome.contains("#OTHER_PAYLOAD#");
    }

    private void misuse(String id, Set<String> stored, List<Row> effects, List<Asked> calls) {
        for (Asked call : calls) {
            if (call.road.equals("misuse")) {
                boolean isStored =
                        stored.stream().anyMatch(each -> call.attempts.contains(attempt(each)));
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

    private void refused(String id, Set<String> stored) {
        List<String> kept =
                by("refused", "command_id").getOrDefault(id, List.of()).stream()
                        .map(row -> row.get("attempt"))
                        .sorted()
                        .toList();
        List<String> wanted =
                stored.stream()
                        .filter(each -> each.startsWith("rejected "))
                        .map(CommandChecker::attempt)
                        .sorted()
                        .toList();
        require(kept.equals(wanted), "a no is kept once", id + " is " + stored + ", kept " + kept);
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
