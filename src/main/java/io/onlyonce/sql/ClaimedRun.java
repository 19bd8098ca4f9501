package io.onlyonce.sql;

import io.onlyonce.outbox.EventKeyReusedException;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

import javax.sql.DataSource;

/**
 * One call that claims something in the first trip of a transaction of ours, works, and commits in
 * the last: it asks, works or waits, and asks again until there is an answer. Commands and messages
 * differ in what they claim and store; what may go wrong in between is the same, and is here.
 *
 * @param <R> the answer
 * @param <X> what the work may throw
 */
public abstract class ClaimedRun<R, X extends Exception> {

    /** A claim that lost against a neighbour's commit is asked again at once, but not for ever. */
    private static final int CLAIM_ABORTS = 1_000;

    /** What the claim came to. */
    protected enum Said {
        /** The work is ours to do. */
        STARTED,
        /** Somebody else is at it. */
        IN_FLIGHT,
        /** It is settled already, one way or the other. */
        SETTLED
    }

    private final DataSource dataSource;
    private final TransactionOptions options;
    private final Deadline deadline;
    private final Retries retries;
    private final Waiting waiting;

    private int claimAborts;
    private int workRuns;
    private int unknownCommits;
    private boolean working;
    private @Nullable Said said;

    /** Set from a COMMIT whose answer was lost until it is known what became of it. */
    private @Nullable CommitOutcomeUnknownException unknown;

    private @Nullable Object unknownMark;

    /** Waits for what is in flight up to the bound, together with all others that wait for it. */
    protected ClaimedRun(
            DataSource dataSource,
            TransactionOptions options,
            Turns turns,
            long key,
            Duration bound) {
        this.dataSource = dataSource;
        this.options = options;
        deadline = Deadline.after(options.deadline());
        retries = new Retries(options.retry(), deadline);
        waiting = new Waiting(turns, key, bound, deadline);
    }

    /** The transaction's first trip; {@link #said} is asked next. Returns the mark. */
    protected abstract Object claim(Connection connection, String settings) throws SQLException;

    /** What the last claim came to. */
    protected abstract Said said();

    /** Does the work and calls {@link #commit}. */
    protected abstract R work(Transaction transaction) throws X, SQLException;

    /** The answer when it is settled. */
    protected abstract R settled() throws X;

    /** The answer when it is in flight and has been waited for. */
    protected abstract R inFlight();

    /** A COMMIT came to nothing, and the retry policy leaves no attempt. */
    protected abstract RuntimeException notCommitted(CommitOutcomeUnknownException unknown);

    /** The error of a statement of ours as the user is to see it. */
    protected abstract SQLException explained(SQLException failure);

    /** One deadline covers it all. */
    protected final Deadline deadline() {
        return deadline;
    }

    /** Asks until there is an answer. */
    protected final R ask() throws X, SQLException {
        try {
            return askUntilAnswered();
        } finally {
            waiting.end(said != Said.IN_FLIGHT);
        }
    }

    private R askUntilAnswered() throws X, SQLException {
        while (true) {
            said = null;
            working = false;
            try {
                Optional<R> answer =
                        Transaction.within(
                                Transaction.begin(dataSource, options, deadline, this::open),
                                this::workIfStarted);
                if (answer.isPresent()) {
                    return answer.get();
                }
            } catch (Throwable failure) {
                if (!isAnswered() && !again(failure)) {
                    throw failure;
                }
            }
            if (said == Said.IN_FLIGHT) {
                if (!waiting.again(unknown != null)) {
                    if (unknown != null) {
                        throw unknown;
                    }
                    return inFlight();
                }
            } else if (said != null) {
                return settled();
            }
        }
    }

    private Object open(Connection connection, String settings) throws SQLException {
        try {
            Object mark = claim(connection, settings);
            said = said();
            return mark;
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private Optional<R> workIfStarted(Transaction transaction) throws X, SQLException {
        if (said != Said.STARTED) {
            return Optional.empty();
        }
        working = true;
        settleUnknown();
        workRuns++;
        return Optional.of(work(transaction));
    }

    /**
     * The claim was given to us, so a predecessor of ours whose COMMIT got no answer has certainly
     * rolled back: whoever still had it in hand would hold the lock.
     */
    private void settleUnknown() {
        if (unknown != null) {
            if (!retries.spend(unknown)) {
                throw notCommitted(unknown);
            }
            unknown = null;
        }
    }

    /** Stores the end and commits, in one trip. */
    protected final void commit(Transaction transaction, Database.Ending ending)
            throws SQLException {
        unknownMark = transaction.mark();
        try {
            transaction.commit(
                    (connection, mark) -> {
                        try {
                            ending.commit(connection, mark);
                        } catch (SQLException e) {
                            throw SqlState.withoutDetail(e);
                        }
                    });
        } catch (CommitOutcomeUnknownException e) {
            unknown = e;
            unknownCommits++;
            throw e;
        } catch (SQLException e) {
            if (SqlState.is(SqlState.EVENT_KEY_REUSED, e)) {
                throw new EventKeyReusedException();
            }
            throw e;
        }
    }

    /** True if the failure came while giving back the connection of a claim that has its answer. */
    private boolean isAnswered() {
        return said != null && !working;
    }

    /** True, after a pause where one is due, if the failure is no answer yet. */
    private boolean again(Throwable failure) {
        if (working) {
            said = null;
            return failure == unknown || (!isHopeless(failure) && retries.again(failure));
        }
        if (SqlState.isRetryable(failure) && ++claimAborts < CLAIM_ABORTS && !deadline.passed()) {
            return true;
        }
        if (SqlState.is(SqlState.LOCK_NOT_AVAILABLE, failure)) {
            said = Said.IN_FLIGHT;
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

    /** True if the same work had better not run again, although a retry might help. */
    protected boolean isHopeless(Throwable failure) {
        return false;
    }

    /** True while it is being found out what became of a COMMIT of ours. */
    protected final boolean isResolving() {
        return unknown != null;
    }

    /** To be thrown while resolving: it cannot be found out any more what became of the COMMIT. */
    protected final CommitOutcomeUnknownException stillUnknown() {
        return Objects.requireNonNull(unknown);
    }

    /** How often the work has run in this call. */
    protected final int workRuns() {
        return workRuns;
    }

    /** How often the answer to a COMMIT of this call was lost. */
    protected final int unknownCommits() {
        return unknownCommits;
    }

    /** True if this mark is that of our own COMMIT, whose answer was lost. */
    protected final boolean isOwn(Object mark) {
        return unknown != null && mark.equals(unknownMark);
    }
}
