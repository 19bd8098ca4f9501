package io.onlyonce.torture;

import io.onlyonce.torture.Evidence.Row;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides whether a history is one that the library promises. It knows the evidence and nothing
 * else: no plan, no fault, no state of a client.
 */
class Checker {

    /** A promise that was broken, by its name. */
    record Violation(String rule, String tenant, String what) {

        @Override
        public String toString() {
            return rule + " [" + tenant + "] " + what;
        }
    }

    private final Evidence evidence;
    private final List<Violation> violations;

    Checker(Evidence evidence, List<Violation> violations) {
        this.evidence = evidence;
        this.violations = violations;
    }

    /** Checks every history, and that no two share an event. */
    static List<Violation> check(List<Evidence> all) {
        List<Violation> violations = new ArrayList<>();
        Map<String, String> owners = new HashMap<>();
        for (Evidence evidence : all) {
            new Checker(evidence, violations).clients();
            new CommandChecker(evidence, violations).check();
            new EventChecker(evidence, violations).check();
            new PurgeChecker(evidence, violations).check();
            for (Row event : evidence.table("event")) {
                String other = owners.putIfAbsent(event.get("event_id"), evidence.tenant());
                if (other != null) {
                    violations.add(
                            new Violation(
                                    "one identity of an event",
                                    evidence.tenant(),
                                    event.get("event_key") + " is also of " + other));
                }
            }
        }
        return violations;
    }

    final Evidence evidence() {
        return evidence;
    }

    final void violated(String rule, String what) {
        violations.add(new Violation(rule, evidence.tenant(), what));
    }

    final void require(boolean holds, String rule, String what) {
        if (!holds) {
            violated(rule, what);
        }
    }

    final Map<String, List<Row>> by(String table, String column) {
        return evidence.table(table).stream()
                .collect(Collectors.groupingBy(row -> row.get(column)));
    }

    private void clients() {
        evidence.lines("broken").forEach(line -> violated("client works", line.rest() + ""));
        evidence.lines("overlap")
                .forEach(line -> violated("one work at a time", "of " + line.get(1)));
        for (var line : evidence.lines("settled")) {
            require( // that an id had expired is checked where it was answered
                    Set.of("completed", "rejected", "expired").contains(line.get(1)),
                    "settled once faults stop",
                    line.get(0) + " is " + line.get(1));
        }
        evidence.lines("undrained")
                .forEach(line -> violated("settled once faults stop", "messages"));
    }
}
