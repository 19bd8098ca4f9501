package io.onlyonce.command;

import io.onlyonce.command.ScheduleScript.Step;
import io.onlyonce.command.ScheduleSession.Answer;
import io.onlyonce.command.ScheduleSession.Reply;
import io.onlyonce.tx.Isolation;

import java.util.HashMap;
import java.util.Map;

/**
 * What the promises say about one schedule: follows it step by step, and refuses the first answer
 * that is not the promised one.
 */
final class ScheduleOracle {

    enum Stored {
        NOTHING,
        UNRESOLVED,
        COMPLETED,
        REJECTED
    }

    /** What a caller's transaction is about. */
    private static final class Transaction {
        long sees = -1;
        boolean claimed;
        boolean worked;
        boolean finished;
    }

    private static final String NOBODY = "nobody";

    private final Map<String, Transaction> transactions = new HashMap<>();

    /** Who keeps others from the command: it works, or was just told the end and is still open. */
    private String holder = NOBODY;

    private long commits;
    private Stored stored = Stored.NOTHING;
    private long storedAt;
    private String result = "";
    private int effects;
    private int events;

    Stored stored() {
        return stored;
    }

    /** To be told when a step sets off, because that is when its snapshot is taken. */
    void starts(ScheduleCaller caller, Step step) {
        Transaction transaction = of(caller);
        if (transaction.sees < 0 && step != Step.ROLLBACK && step != Step.KILL) {
            transaction.sees = commits;
        }
    }

    /** To be told when a step waits in the database for another caller. */
    void waits(ScheduleCaller caller, Step step) {
        ScheduleScript script = caller.script();
        boolean may =
                switch (step) {
                    case WRITE -> true; // the caller's own business
                    case CLAIM -> script.road() == ScheduleScript.Road.HIGH_BLOCKING;
                    case STALE_FINISH -> script.end() == ScheduleScript.End.STALE_IN_TRANSACTION;
                    default -> false;
                };
        check(may, "%s waits for another caller".formatted(step));
    }

    /** To be told what a step came to. */
    void ended(ScheduleCaller caller, Step step, Reply reply) {
        Transaction transaction = of(caller);
        Answer answer = reply.answer();
        boolean mayAbort = caller.script().level() != Isolation.READ_COMMITTED;
        switch (step) {
            case CLAIM -> claimed(caller, reply);
            case WRITE ->
                    check(
                            answer == Answer.DONE || (mayAbort && answer == Answer.ABORTED),
                            "WRITE came to " + answer);
            case STALE_FINISH ->
                    check(
                            answer == Answer.CLAIM_LOST || (mayAbort && answer == Answer.ABORTED),
                            "a stale finish came to " + answer);
            default -> check(answer == Answer.DONE, step + " came to " + answer);
        }
        if (answer == Answer.ABORTED || answer == Answer.CLAIM_LOST) {
            letGo(caller);
            return;
        }
        switch (step) {
            case WORK -> {
                check(
                        transactions.values().stream().filter(t -> t.claimed).count() == 1,
                        "work while somebody else has the command");
                transaction.worked = true;
            }
            case FINISH -> transaction.finished = true;
            case UNDO_CLAIM -> letGo(caller);
            case FINISH_AND_COMMIT -> {
                events++;
                committed(caller, Stored.COMPLETED);
            }
            case REJECT_AND_COMMIT -> {
                transaction.worked = false;
                committed(caller, Stored.REJECTED);
            }
            case COMMIT ->
                    committed(caller, transaction.finished ? Stored.COMPLETED : Stored.UNRESOLVED);
            case ROLLBACK, KILL -> over(caller);
            default -> {}
        }
    }

    private void claimed(ScheduleCaller caller, Reply reply) {
        Answer expected = expected(caller);
        check(
                reply.answer() == expected,
                "CLAIM came to %s instead of %s".formatted(reply.answer(), expected));
        boolean told = expected == Answer.REPLAYED || expected == Answer.REJECTED;
        check(!told || reply.result().equals(result), "replayed " + reply.result());
        if (expected != Answer.IN_FLIGHT && isFree(caller)) {
            holder = caller.name();
        }
        of(caller).claimed = expected == Answer.STARTED;
    }

    private Answer expected(ScheduleCaller caller) {
        boolean free = isFree(caller);
        if (stored == Stored.NOTHING) {
            return free ? Answer.STARTED : Answer.IN_FLIGHT;
        }
        boolean visible =
                caller.script().level() == Isolation.READ_COMMITTED || storedAt <= of(caller).sees;
        if (visible && stored != Stored.UNRESOLVED) {
            return stored == Stored.COMPLETED ? Answer.REPLAYED : Answer.REJECTED;
        }
        if (!free) {
            return Answer.IN_FLIGHT;
        }
        return visible ? Answer.OUTCOME_UNKNOWN : Answer.ABORTED;
    }

    private boolean isFree(ScheduleCaller caller) {
        return holder.equals(NOBODY) || holder.equals(caller.name());
    }

    private void committed(ScheduleCaller caller, Stored as) {
        Transaction transaction = of(caller);
        commits++;
        if (transaction.claimed) {
            stored = as;
            storedAt = commits;
            result = as == Stored.UNRESOLVED ? "" : caller.name();
            effects += transaction.worked ? 1 : 0;
        }
        over(caller);
    }

    private void over(ScheduleCaller caller) {
        letGo(caller);
        transactions.remove(caller.name());
    }

    private void letGo(ScheduleCaller caller) {
        Transaction transaction = of(caller);
        transaction.claimed = false;
        transaction.worked = false;
        transaction.finished = false;
        if (holder.equals(caller.name())) {
            holder = NOBODY;
        }
    }

    private Transaction of(ScheduleCaller caller) {
        return transactions.computeIfAbsent(caller.name(), name -> new Transaction());
    }

    /** To be told what the database holds when all is over. */
    void durable(ScheduleLedger.Entry found) {
        check(found.effects() <= 1, found.effects() + " effects of one command");
        var promised = new ScheduleLedger.Entry(effects, events, stored, result);
        check(found.equals(promised), "left %s instead of %s".formatted(found, promised));
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
