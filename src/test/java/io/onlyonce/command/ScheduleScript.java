package io.onlyonce.command;

import io.onlyonce.tx.Isolation;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/** What one caller does, round trip by round trip, if it is given the command. */
record ScheduleScript(Road road, Before before, End end, Isolation level) {

    enum Road {
        /** Fail fast: told "in flight", it gives up its transaction and asks again. */
        HIGH,
        /** Waits in the database for whoever has the command. */
        HIGH_BLOCKING,
        /** Told "in flight", it asks again in the same transaction. */
        LOW;

        boolean isHigh() {
            return this != LOW;
        }
    }

    /** What a caller of the low road does in its transaction before it asks. */
    enum Before {
        NOTHING,
        /** Above READ COMMITTED, everything later sees the database as of this statement. */
        SNAPSHOT,
        /** Writes a row that the other callers write too. */
        WRITE
    }

    /** One round trip. */
    enum Step {
        SNAPSHOT,
        WRITE,
        CLAIM,
        WORK,
        FINISH,
        /** A finish with a claim that this transaction does not hold any more. */
        STALE_FINISH,
        COMMIT,
        FINISH_AND_COMMIT,
        REJECT_AND_COMMIT,
        UNDO_CLAIM,
        ROLLBACK,
        KILL
    }

    enum End {
        COMMIT,
        REJECT,
        ROLLBACK,
        KILL_AFTER_CLAIM,
        KILL_AFTER_WORK,
        KILL_AFTER_FINISH,
        /** Commits claim and work without a finish. */
        ABANDON,
        /** Rolls back to a savepoint before the claim, and finishes all the same. */
        STALE_IN_TRANSACTION,
        /** Rolls back, and finishes in its next transaction. */
        STALE_IN_THE_NEXT
    }

    /** All that a caller may do on this road at this level. */
    static Stream<ScheduleScript> all(Road road, Isolation level) {
        return Arrays.stream(Before.values())
                .flatMap(
                        before ->
                                Arrays.stream(End.values())
                                        .map(end -> new ScheduleScript(road, before, end, level)))
                .filter(ScheduleScript::exists);
    }

    /** All that callers may do at this level, on every road. */
    static List<ScheduleScript> all(Isolation level) {
        return Arrays.stream(Road.values()).flatMap(road -> all(road, level)).toList();
    }

    /** Any of them. */
    static ScheduleScript any(Random random) {
        List<ScheduleScript> all =
                all(Isolation.values()[random.nextInt(Isolation.values().length)]);
        return all.get(random.nextInt(all.size()));
    }

    private boolean exists() {
        boolean plain =
                end == End.COMMIT
                        || end == End.ROLLBACK
                        || end == (road.isHigh() ? End.KILL_AFTER_WORK : End.KILL_AFTER_FINISH);
        return switch (road) {
            case HIGH ->
                    before == Before.NOTHING
                            && (plain || end == End.REJECT || end == End.KILL_AFTER_CLAIM);
            case HIGH_BLOCKING -> before == Before.NOTHING && plain;
            case LOW -> plain || (before != Before.WRITE && end != End.REJECT);
        };
    }

    List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        if (before != Before.NOTHING) {
            steps.add(before == Before.SNAPSHOT ? Step.SNAPSHOT : Step.WRITE);
        }
        steps.addAll(stepsFromClaim());
        return steps;
    }

    List<Step> stepsFromClaim() {
        boolean high = road.isHigh();
        return switch (end) {
            case COMMIT ->
                    high
                            ? List.of(Step.CLAIM, Step.WORK, Step.FINISH_AND_COMMIT)
                            : List.of(Step.CLAIM, Step.WORK, Step.FINISH, Step.COMMIT);
            case REJECT -> List.of(Step.CLAIM, Step.WORK, Step.REJECT_AND_COMMIT);
            case ROLLBACK ->
                    high
                            ? List.of(Step.CLAIM, Step.WORK, Step.ROLLBACK)
                            : List.of(Step.CLAIM, Step.WORK, Step.FINISH, Step.ROLLBACK);
            case KILL_AFTER_CLAIM -> List.of(Step.CLAIM, Step.KILL);
            case KILL_AFTER_WORK -> List.of(Step.CLAIM, Step.WORK, Step.KILL);
            case KILL_AFTER_FINISH -> List.of(Step.CLAIM, Step.WORK, Step.FINISH, Step.KILL);
            case ABANDON -> List.of(Step.CLAIM, Step.WORK, Step.COMMIT);
            case STALE_IN_TRANSACTION ->
                    List.of(Step.CLAIM, Step.UNDO_CLAIM, Step.STALE_FINISH, Step.ROLLBACK);
            case STALE_IN_THE_NEXT ->
                    List.of(Step.CLAIM, Step.ROLLBACK, Step.STALE_FINISH, Step.ROLLBACK);
        };
    }

    @Override
    public String toString() {
        return "%s (%s before) %s at %s".formatted(road, before, end, level);
    }
}
