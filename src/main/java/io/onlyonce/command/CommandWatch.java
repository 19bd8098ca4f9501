package io.onlyonce.command;

import io.onlyonce.observe.ObservedCommand;
import io.onlyonce.observe.ObservedCommand.Decision;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.payload.UnknownResultKeyException;
import io.onlyonce.sql.Observer;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;

/** What a listener will be told of one command; made only if there is one. */
final class CommandWatch {

    private final Observer observer;
    private final CommandScope scope;
    private final long begun = System.nanoTime();

    private Decision decision = Decision.FAILED;
    private long asked;
    private @Nullable Duration claim;
    private int resultBytes = -1;
    private int appended;
    private int duplicates;
    private boolean unreadable;
    private boolean refused;

    CommandWatch(Observer observer, CommandScope scope) {
        this.observer = observer;
        this.scope = scope;
    }

    /** The claim is on its way. */
    void asks() {
        asked = System.nanoTime();
    }

    void isAnswered() {
        claim = Duration.ofNanos(System.nanoTime() - asked);
    }

    void decided(Decision what) {
        decision = what;
    }

    /** The end of the work is durable. */
    void stored(int bytes, int newEvents, int knownEvents) {
        resultBytes = bytes;
        appended = newEvents;
        duplicates = knownEvents;
    }

    void failed(Throwable failure, boolean worked, boolean resolving) {
        if (resolving && failure instanceof CommitOutcomeUnknownException) {
            decision = Decision.UNKNOWN;
        }
        unreadable = !worked && isUnreadable(failure);
        refused = !worked && failure instanceof KeyBudgetExceededException;
    }

    private static boolean isUnreadable(Throwable failure) {
        return failure instanceof StoredResultUnreadableException
                || failure instanceof UnknownResultKeyException
                || failure instanceof ResultNotStoredException;
    }

    /** High road: everything is over, and the connection back. */
    void ended(int workRuns, int unknownCommits) {
        if (refused) {
            observer.tell(listener -> listener.keyBudgetRefused(scope));
            return;
        }
        var observed =
                new ObservedCommand(
                        scope,
                        decision,
                        Optional.ofNullable(claim),
                        Optional.of(Duration.ofNanos(System.nanoTime() - begun)),
                        Math.max(0, workRuns - 1),
                        unknownCommits,
                        resultBytes < 0 ? OptionalInt.empty() : OptionalInt.of(resultBytes),
                        unreadable);
        observer.tell(listener -> listener.command(observed));
        if (appended + duplicates > 0) {
            observer.tell(listener -> listener.eventsAppended(appended, duplicates));
        }
    }

    /** Low road: a claim that leaves nothing to be done is an answer. */
    void claimed(Connection connection, Claim answer) {
        if (!(answer instanceof Claim.Started)) {
            var took = Duration.ofNanos(System.nanoTime() - begun);
            tell(observer, connection, true, lowRoad(scope, decisionOf(answer), took, -1));
        }
    }

    /** Low road: what becomes durable with the caller's COMMIT. */
    static void finished(Observer observer, Connection connection, CommandScope scope, Final end) {
        if (observer.isWatching()) {
            var decision =
                    end.status() == StoredRow.REJECTED ? Decision.REJECTED : Decision.STARTED;
            int bytes = end.result().bytes().length;
            tell(observer, connection, false, lowRoad(scope, decision, null, bytes));
        }
    }

    private static void tell(
            Observer observer, Connection connection, boolean undone, ObservedCommand observed) {
        observer.tell(connection, undone, listener -> listener.command(observed));
    }

    private static ObservedCommand lowRoad(
            CommandScope scope, Decision decision, @Nullable Duration claim, int bytes) {
        return new ObservedCommand(
                scope,
                decision,
                Optional.ofNullable(claim),
                Optional.empty(),
                0,
                0,
                bytes < 0 ? OptionalInt.empty() : OptionalInt.of(bytes),
                false);
    }

    private static Decision decisionOf(Claim answer) {
        if (answer instanceof Claim.Replayed) {
            return Decision.REPLAYED;
        }
        if (answer instanceof Claim.Rejected) {
            return Decision.REJECTED;
        }
        if (answer instanceof Claim.InFlight) {
            return Decision.IN_FLIGHT;
        }
        if (answer instanceof Claim.PayloadMismatch) {
            return Decision.MISMATCH;
        }
        return answer instanceof Claim.Expired ? Decision.EXPIRED : Decision.UNKNOWN;
    }
}
