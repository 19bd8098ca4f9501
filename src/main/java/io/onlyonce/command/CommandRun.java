package io.onlyonce.command;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.outbox.EventBuffer;
import io.onlyonce.outbox.EventKeyReusedException;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.Retries;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** One call of {@code run}: asks, works or waits, and asks again until there is an answer. */
final class CommandRun<T, X extends Exception> {

    /** A claim that lost against a neighbour's commit is asked again at once, but not for ever. */
    private static final int CLAIM_ABORTS = 1_000;

    private final CommandRunner runner;
    private final CommandStore store;
    private final Settings settings;
    private final NewRow row;
    private final Command command;
    private final ResultType<T> type;
    private final RunOptions options;
    private final CommandWork<T, X> work;
    private final CommandStore.Plan plan;
    private final Deadline deadline;
    private final Retries retries;
    private final Waiting waiting;

    private int claimAborts;
    private boolean working;
    private @Nullable Claim claim;
    private @Nullable StoredRow stored;

    /** Set from a COMMIT whose answer was lost until it is known what became of it. */
    private @Nullable CommitOutcomeUnknownException unknown;

    private @Nullable Object unknownMark;

    CommandRun(
            CommandRunner runner,
            NewRow row,
            ResultType<T> type,
            RunOptions options,
            CommandWork<T, X> work) {
        this.runner = runner;
        this.store = runner.store();
        this.settings = runner.settings();
        this.row = row;
        this.command = row.command();
        this.type = type;
        this.options = options;
        this.work = work;
        deadline = Deadline.after(options.transaction().deadline());
        retries = new Retries(options.transaction().retry(), deadline);
        waiting = new Waiting(runner.turns(), row.lockKey(), options.inFlight(), deadline);
        boolean blocks = options.inFlight().kind() == InFlightPolicy.Kind.BLOCK;
        plan =
                new CommandStore.Plan(
                        options.transaction().isolation(),
                        options.storesRejections(),
                        blocks ? options.inFlight().bound() : null);
    }

    Outcome<T> run() throws X, SQLException {
        try {
            Optional<Claim> known = command.isLikelyRetry() ? readFirst() : Optional.empty();
            return known.isPresent() ? answer(known.get()) : ask();
        } finally {
            waiting.end(!(claim instanceof Claim.InFlight));
        }
    }

    /** Only a final row that would be replayed counts; everything else is for the claim to say. */
    private Optional<Claim> readFirst() throws SQLException {
        Optional<StoredRow> seen;
        try {
            seen =
                    Transaction.read(
                            runner.dataSource(),
                            options.transaction(),
                            deadline,
                            connection -> store.read(connection, row));
        } catch (SQLException e) {
            throw explained(e);
        }
        return seen.filter(r -> r.status() != StoredRow.STARTED)
                .map(r -> new Seen(false, false, "none", r).decide(row, settings))
                .filter(c -> c instanceof Claim.Replayed || c instanceof Claim.Rejected);
    }

    private Outcome<T> ask() throws X, SQLException {
        while (true) {
            claim = null;
            working = false;
            try {
                Optional<Outcome<T>> outcome =
                        Transaction.within(
                                Transaction.begin(
                                        runner.dataSource(),
                                        options.transaction(),
                                        deadline,
                                        this::open),
                                this::workIfStarted);
                if (outcome.isPresent()) {
                    return outcome.get();
                }
            } catch (Throwable failure) {
                if (!isAnswered() && !again(failure)) {
                    throw failure;
                }
            }
            if (claim instanceof Claim.InFlight inFlight) {
                if (!waiting.again(unknown != null)) {
                    throw unknown != null
                            ? unknown
                            : new CommandInFlightException(command, inFlight.retryAfter());
                }
            } else if (claim != null) {
                return answer(claim);
            }
        }
    }

    /** The transaction's first trip. */
    private Object open(Connection connection, String transactionSettings) throws SQLException {
        try {
            Seen seen = store.open(connection, transactionSettings, row, plan);
            if (seen.isOutlived(command)) {
                seen = store.reopen(connection, row, plan, seen);
            }
            stored = seen.row();
            claim = seen.decide(row, settings);
            return seen.mark();
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /**
     * The claim was given to us, so a predecessor of ours whose COMMIT got no answer has certainly
     * rolled back: whoever still had it in hand would hold the lock.
     */
    private void settleUnknown() {
        if (unknown != null) {
            if (!retries.spend(unknown)) {
                throw new CommandNotCommittedException(command, unknown);
            }
            unknown = null;
        }
    }

    private Optional<Outcome<T>> workIfStarted(Transaction transaction) throws X, SQLException {
        if (!(claim instanceof Claim.Started)) {
            return Optional.empty();
        }
        working = true;
        settleUnknown();
        return Optional.of(work(transaction));
    }

    private Outcome<T> work(Transaction transaction) throws X, SQLException {
        var context = new Work(transaction.guarded(), command);
        T value;
        try {
            value = work.run(context);
        } catch (Throwable failure) {
            Optional<Rejection> rejection = options.rejectionFor(failure);
            // A timeout or a lost lock may not be met again, so a "no" that follows from it is
            // none.
            if (rejection.isEmpty()
                    || transaction.metTransientError()
                    || !SqlState.isDeterministic(failure)) {
                throw failure;
            }
            throw reject(transaction, rejection.get(), failure);
        }
        var result = settings.encode(command, value, type);
        commit(transaction, Final.completed(result), false, context.outbox().events());
        return new Outcome<>(value, false);
    }

    /** Undoes the work, lets the user write what is to be kept of it, and commits the "no". */
    private CommandRejectedException reject(
            Transaction transaction, Rejection rejection, Throwable failure) throws SQLException {
        Final end = Final.rejected(rejection);
        settings.checked(command, end.result());
        var outbox = new EventBuffer();
        var onRejected = options.onRejected();
        try {
            if (onRejected.isPresent()) {
                store.undo(transaction.connection());
                onRejected.get().rejected(transaction.guarded(), outbox, rejection);
            }
            commit(transaction, end, onRejected.isEmpty(), outbox.events());
        } catch (Throwable e) {
            e.addSuppressed(failure);
            throw e;
        }
        return failure instanceof CommandRejectedException no
                ? no
                : new CommandRejectedException(rejection, failure, false);
    }

    private void commit(Transaction transaction, Final end, boolean undo, List<OutboxEvent> events)
            throws SQLException {
        var finish = new CommandStore.Finish(plan, undo, end, events);
        unknownMark = transaction.mark();
        try {
            transaction.commit(
                    (connection, mark) -> {
                        try {
                            store.finishAndCommit(connection, mark, row, finish);
                        } catch (SQLException e) {
                            throw SqlState.withoutDetail(e);
                        }
                    });
            if (!events.isEmpty()) {
                runner.eventsCommitted();
            }
        } catch (CommitOutcomeUnknownException e) {
            unknown = e;
            throw e;
        } catch (SQLException e) {
            if (SqlState.is(SqlState.EVENT_KEY_REUSED, e)) {
                throw new EventKeyReusedException();
            }
            if (SqlState.is(SqlState.CLAIM_LOST, e)) {
                throw new ClaimLostException(command);
            }
            throw e;
        }
    }

    /** True if the failure came while giving back the connection of a claim that has its answer. */
    private boolean isAnswered() {
        return claim != null && !working;
    }

    /** True, after a pause where one is due, if the failure is no answer yet. */
    private boolean again(Throwable failure) {
        if (working) {
            claim = null;
            return failure == unknown || retries.again(failure);
        }
        if (SqlState.isRetryable(failure) && ++claimAborts < CLAIM_ABORTS && !deadline.passed()) {
            return true;
        }
        if (SqlState.is(SqlState.LOCK_NOT_AVAILABLE, failure)) {
            claim = Seen.IN_FLIGHT;
            return true;
        }
        if (unknown != null) {
            if (waiting.again(true)) {
                return true;
            }
            unknown.addSuppressed(failure);
            throw unknown;
        }
        return false;
    }

    private Outcome<T> answer(Claim answer) {
        boolean replayed = !isOwn();
        if (answer instanceof Claim.Replayed found) {
            return new Outcome<>(found.value(type), replayed);
        }
        if (answer instanceof Claim.Rejected no) {
            throw new CommandRejectedException(no.rejection(), null, replayed);
        }
        if (answer instanceof Claim.PayloadMismatch) {
            throw new PayloadMismatchException(command);
        }
        if (answer instanceof Claim.Expired) {
            throw new CommandExpiredException(command);
        }
        throw new CommandOutcomeUnknownException(command);
    }

    /** True if the row is what this very call committed without getting the answer. */
    private boolean isOwn() {
        return unknown != null && stored != null && stored.startedAt().equals(unknownMark);
    }

    private SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(settings.schema().value());
        }
        return SqlState.withoutDetail(e);
    }
}
