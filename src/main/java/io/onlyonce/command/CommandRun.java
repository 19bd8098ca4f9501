package io.onlyonce.command;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.observe.ObservedCommand.Decision;
import io.onlyonce.outbox.EventBuffer;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.ClaimedRun;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** One call of {@code run}: what a command claims, does and stores. */
final class CommandRun<T, X extends Exception> extends ClaimedRun<Outcome<T>, X> {

    private final CommandRunner runner;
    private final CommandStore store;
    private final Settings settings;
    private final NewRow row;
    private final Command command;
    private final ResultType<T> type;
    private final RunOptions options;
    private final CommandWork<T, X> work;
    private final CommandStore.Plan plan;

    private @Nullable Claim claim;
    private @Nullable StoredRow stored;
    private @Nullable CommandWatch watch;
    private KeyBudget.@Nullable Permit permit;
    private boolean committed;
    private boolean forgotten;
    private long startedNanos;
    private int appended;

    CommandRun(
            CommandRunner runner,
            NewRow row,
            ResultType<T> type,
            RunOptions options,
            CommandWork<T, X> work) {
        super(
                runner.dataSource(),
                options.transaction(),
                runner.turns(),
                row.lockKey(),
                options.inFlight().bound());
        this.runner = runner;
        this.store = runner.store();
        this.settings = runner.settings();
        this.row = row;
        this.command = row.command();
        this.type = type;
        this.options = options;
        this.work = work;
        boolean blocks = options.inFlight().kind() == InFlightPolicy.Kind.BLOCK;
        plan =
                new CommandStore.Plan(
                        options.transaction().isolation(),
                        options.storesRejections(),
                        blocks ? options.inFlight().bound() : null);
    }

    Outcome<T> run() throws X, SQLException {
        Observer observer = runner.observer();
        if (!observer.isWatching()) {
            return answered();
        }
        var watch = new CommandWatch(observer, command.scope());
        this.watch = watch;
        try {
            return answered();
        } catch (Throwable failure) {
            watch.failed(failure, workRuns() > 0, isResolving());
            throw failure;
        } finally {
            watch.ended(workRuns(), unknownCommits());
        }
    }

    private Outcome<T> answered() throws X, SQLException {
        Optional<Claim> known = command.isLikelyRetry() ? readFirst() : Optional.empty();
        return known.isPresent() ? answer(known.get()) : askWithinBudget();
    }

    /** Leave to use a new id is asked for before a connection is, and given back if none was. */
    private Outcome<T> askWithinBudget() throws X, SQLException {
        if (runner.budget().isEmpty()) {
            return ask();
        }
        KeyBudget.Permit leave;
        try {
            leave = runner.budget().get().take(command.scope(), options.transaction(), deadline());
        } catch (SQLException e) {
            throw explained(e);
        }
        permit = leave;
        try {
            return ask();
        } finally {
            if (!committed && unknownCommits() == 0) {
                leave.giveBack();
            }
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
                            deadline(),
                            connection -> store.read(connection, command.scope(), command.id()));
        } catch (SQLException e) {
            throw explained(e);
        }
        return seen.filter(r -> r.status() != StoredRow.STARTED)
                .map(r -> new Seen(false, false, "none", r).decide(row, settings))
                .filter(c -> c instanceof Claim.Replayed || c instanceof Claim.Rejected);
    }

    @Override
    protected Object claim(Connection connection, String transactionSettings) throws SQLException {
        if (watch != null) {
            watch.asks();
        }
        long asked = System.nanoTime();
        Seen seen = store.open(connection, transactionSettings, row, plan);
        if (seen.isOutlived(command)) {
            seen = store.reopen(connection, row, plan, seen);
        }
        if (watch != null) {
            watch.isAnswered();
        }
        stored = seen.row();
        claim = seen.decide(row, settings);
        if (claim instanceof Claim.Started) {
            forgotten = isResolving() && isForgettable(System.nanoTime() - startedNanos);
            startedNanos = asked;
        }
        if (claim instanceof Claim.Started && permit != null && !permit.isGranted()) {
            throw new KeyBudgetExceededException(command, permit.retryAfter());
        }
        return seen.mark();
    }

    /** What was committed so long ago may have been purged: that it is not there proves nothing. */
    private boolean isForgettable(long nanosAgo) {
        Long micros = row.expiry().forgetMicros();
        return micros != null && nanosAgo / 1_000 >= micros;
    }

    @Override
    protected Said said() {
        if (claim instanceof Claim.Started) {
            return forgotten ? Said.SETTLED : Said.STARTED;
        }
        return claim instanceof Claim.InFlight ? Said.IN_FLIGHT : Said.SETTLED;
    }

    @Override
    protected Outcome<T> work(Transaction transaction) throws X, SQLException {
        var context = new Work(transaction.guarded(), command);
        T value;
        try {
            value = work.run(context);
        } catch (Throwable failure) {
            Optional<Rejection> rejection = options.rejectionFor(failure);
            // A timeout or a lost lock may not be met again, so a "no" that follows from it is
            // none; nor may it reach the caller, who would take it for the stored answer.
            Optional<SQLException> met = transaction.transientError();
            if (rejection.isPresent()
                    && met.isPresent()
                    && failure instanceof CommandRejectedException) {
                met.get().addSuppressed(failure);
                throw met.get();
            }
            if (rejection.isEmpty() || met.isPresent() || !SqlState.isDeterministic(failure)) {
                throw failure;
            }
            throw reject(transaction, rejection.get(), failure);
        }
        var result = settings.encode(command, value, type);
        commit(transaction, Final.completed(result), false, context.outbox().events());
        note(Decision.STARTED);
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
            note(Decision.REJECTED);
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
        var finish = new CommandStore.Finish(plan, undo, settings.seal().sealed(row, end), events);
        try {
            commit(
                    transaction,
                    (connection, mark) ->
                            appended = store.finishAndCommit(connection, mark, row, finish));
        } catch (SQLException e) {
            if (SqlState.is(SqlState.CLAIM_LOST, e)) {
                throw new ClaimLostException(command);
            }
            throw e;
        }
        committed = true;
        if (!events.isEmpty()) {
            runner.eventsCommitted();
        }
        if (watch != null) {
            watch.stored(end.result().bytes().length, appended, events.size() - appended);
        }
    }

    private void note(Decision decision) {
        if (watch != null) {
            watch.decided(decision);
        }
    }

    @Override
    protected Outcome<T> inFlight() {
        note(Decision.IN_FLIGHT);
        throw new CommandInFlightException(command, Seen.RETRY_AFTER);
    }

    @Override
    protected RuntimeException notCommitted(CommitOutcomeUnknownException unknown) {
        return new CommandNotCommittedException(command, unknown);
    }

    @Override
    protected Outcome<T> settled() {
        if (claim instanceof Claim.Started) {
            throw stillUnknown();
        }
        return answer(Objects.requireNonNull(claim));
    }

    private Outcome<T> answer(Claim answer) {
        boolean replayed = stored == null || !isOwn(stored.startedAt());
        if (answer instanceof Claim.Replayed found) {
            var outcome = new Outcome<>(found.value(type), replayed);
            note(replayed ? Decision.REPLAYED : Decision.STARTED);
            return outcome;
        }
        if (answer instanceof Claim.Rejected no) {
            note(Decision.REJECTED);
            throw new CommandRejectedException(no.rejection(), null, replayed);
        }
        if (answer instanceof Claim.PayloadMismatch) {
            note(Decision.MISMATCH);
            throw new PayloadMismatchException(command);
        }
        if (answer instanceof Claim.Expired) {
            note(Decision.EXPIRED);
            throw new CommandExpiredException(command);
        }
        note(Decision.UNKNOWN);
        throw new CommandOutcomeUnknownException(command);
    }

    @Override
    protected SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(settings.schema().value());
        }
        return SqlState.withoutDetail(e);
    }
}
