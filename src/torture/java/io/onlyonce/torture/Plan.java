package io.onlyonce.torture;

import io.onlyonce.tx.Isolation;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One history: what each of its callers does, and which fault meets it. Made from the seed and a
 * number and nothing else, so that clients and driver make the same one without telling each other.
 */
record Plan(String tenant, List<Transfer> transfers, List<List<Call>> callers, int number) {

    static final int CLIENTS = 3;
    static final int CALLERS_PER_CLIENT = 2;
    static final int CALLERS = CLIENTS * CALLERS_PER_CLIENT;
    static final List<String> ACCOUNTS = List.of("a", "b", "c");
    static final long OPENING_BALANCE = 100;

    /** What a command id stands for. */
    record Transfer(String id, String from, String to, int amount, Life life) {

        /** Three ways to send it: as it is, spelt differently, and another payload altogether. */
        String payload(Spelling spelling) {
            return switch (spelling) {
                case PLAIN ->
                        "{\"from\":\"%s\",\"to\":\"%s\",\"amount\":%d}".formatted(from, to, amount);
                case OTHER_SPELLING ->
                        "{ \"amount\" : %d.0, \"to\" : \"%s\", \"from\" : \"%s\" }"
                                .formatted(amount, to, from);
                case OTHER_PAYLOAD ->
                        "{\"from\":\"%s\",\"to\":\"%s\",\"amount\":%d}"
                                .formatted(from, to, amount(spelling));
            };
        }

        int amount(Spelling spelling) {
            return spelling == Spelling.OTHER_PAYLOAD ? amount + 1 : amount;
        }
    }

    enum Spelling {
        PLAIN,
        OTHER_SPELLING,
        OTHER_PAYLOAD
    }

    enum Policy {
        FAIL_FAST,
        WAIT,
        BLOCK
    }

    /** One call of one caller; a relay's or an inbox's fault is set up just before it. */
    record Call(
            String key,
            Transfer transfer,
            Spelling spelling,
            boolean lowRoad,
            Isolation isolation,
            Policy policy,
            boolean likelyRetry,
            boolean batch,
            Optional<Cell> fault) {

        boolean meets(Cell.Kind kind) {
            return fault.filter(cell -> cell.kind() == kind).isPresent();
        }

        boolean meets(Cell.Site site) {
            return fault.filter(cell -> cell.site() == site).isPresent();
        }
    }

    static Plan of(long seed, int number) {
        var random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + number);
        String tenant = "t%x-%d".formatted(seed, number);
        List<Cell> faults = new ArrayList<>();
        int count = 1 + random.nextInt(5) / 2;
        for (int i = 0; i < count; i++) {
            faults.add(Cell.at(seed * 31 + 3L * number + i));
        }
        List<Transfer> transfers = new ArrayList<>();
        for (int i = faults.size() + 1 + random.nextInt(2); i > 0; i--) {
            transfers.add(transfer(random, transfers.size()));
        }
        // The first transfers are those of the faults; two of three are at first asked for by one
        // client alone, because there is little to strike in a replay.
        int meets = random.nextInt(CALLERS);
        var alone = new boolean[faults.size()];
        for (int i = 0; i < alone.length; i++) {
            alone[i] = random.nextInt(3) > 0;
        }
        List<List<Call>> callers = new ArrayList<>();
        for (int caller = 0; caller < CALLERS; caller++) {
            List<Transfer> known = new ArrayList<>(transfers);
            for (int i = alone.length - 1; i >= 0; i--) {
                if (alone[i]
                        && (meets + i) % CALLERS / CALLERS_PER_CLIENT
                                != caller / CALLERS_PER_CLIENT) {
                    known.remove(i);
                }
            }
            List<Call> calls = new ArrayList<>();
            for (int i = 2 + random.nextInt(2); i > 0; i--) {
                calls.add(call(random, caller + "." + calls.size(), known));
            }
            callers.add(calls);
        }
        for (int i = 0; i < faults.size(); i++) {
            List<Call> calls = callers.get((meets + i) % CALLERS);
            calls.set(0, faulted(calls.get(0), faults.get(i), transfers.get(i)));
        }
        return new Plan(tenant, transfers, callers, number);
    }

    private static Transfer transfer(SplittableRandom random, int n) {
        int from = random.nextInt(ACCOUNTS.size());
        int to = (from + 1 + random.nextInt(ACCOUNTS.size() - 1)) % ACCOUNTS.size();
        boolean never = random.nextInt(8) == 0;
        int amount = never ? 1_000 : 1 + random.nextInt(50);
        return new Transfer(
                "cmd-" + n, ACCOUNTS.get(from), ACCOUNTS.get(to), amount, Life.draw(random));
    }

    private static Call call(SplittableRandom random, String key, List<Transfer> transfers) {
        Isolation[] levels = Isolation.values();
        int spelling = random.nextInt(8);
        return new Call(
                key,
                transfers.get(random.nextInt(transfers.size())),
                spelling == 0
                        ? Spelling.OTHER_PAYLOAD
                        : spelling < 3 ? Spelling.OTHER_SPELLING : Spelling.PLAIN,
                random.nextInt(4) == 0,
                levels[random.nextInt(levels.length)],
                Policy.values()[random.nextInt(3)],
                random.nextInt(6) == 0,
                random.nextBoolean(),
                Optional.empty());
    }

    /** Some faults exist on one road or at some levels only. */
    private static Call faulted(Call call, Cell cell, Transfer transfer) {
        boolean lowRoad =
                switch (cell.kind()) {
                    case STALE_CLAIM, UNDONE_CLAIM -> true;
                    case SAYS_COMMIT, TIMEOUT_THEN_NO, SWALLOWED_ERROR -> false;
                    default -> call.lowRoad();
                };
        boolean needsSnapshot =
                cell.kind() == Cell.Kind.SERIALIZATION && cell.step() == Cell.Step.BEFORE_FINISH;
        boolean mustSeeOthers =
                call.batch()
                        && (cell.kind() == Cell.Kind.UNDONE_CLAIM
                                || cell.kind() == Cell.Kind.SAYS_COMMIT);
        Isolation isolation = call.isolation();
        if (needsSnapshot && isolation == Isolation.READ_COMMITTED) {
            isolation = Isolation.REPEATABLE_READ;
        } else if (mustSeeOthers) {
            isolation = Isolation.READ_COMMITTED;
        }
        return new Call(
                call.key(),
                transfer,
                call.spelling(),
                lowRoad,
                isolation,
                call.policy(),
                false,
                call.batch(),
                Optional.of(cell));
    }

    /** The faults of the publisher that meet this history, whichever relay publishes it. */
    List<Cell> publishing() {
        return callers.stream()
                .flatMap(List::stream)
                .flatMap(call -> call.fault().stream())
                .filter(c -> c.step() == Cell.Step.PUBLISH || c.step() == Cell.Step.PUBLISHED)
                .toList();
    }

    /** After how many calls of a wave the server is crashed; empty for most waves. */
    static Optional<Integer> restartAfter(long seed, int wave, int calls) {
        var random = new SplittableRandom(seed * 31 + wave);
        return random.nextInt(6) == 0 ? Optional.of(1 + random.nextInt(calls)) : Optional.empty();
    }
}
