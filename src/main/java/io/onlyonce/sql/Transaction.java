package io.onlyonce.sql;

import io.onlyonce.tx.BorrowedTransactionException;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.DeadlineExceededException;
import io.onlyonce.tx.SwallowedSqlErrorException;
import io.onlyonce.tx.TransactionControlException;
import io.onlyonce.tx.TransactionEndedByWorkException;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

import javax.sql.DataSource;

/**
 * One transaction on one borrowed connection. It commits for certain, rolls back for certain, or
 * says that it does not know; and the connection goes back as it came, or is aborted and never
 * pooled again.
 *
 * <p>Used through {@link #within}: what {@link #close} cannot undo is added to the failure as
 * suppressed.
 */
public final class Transaction implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Transaction.class);

    /**
     * How much longer than the server a socket waits, so that the server's own answer comes first.
     */
    private static final Duration GRACE = Duration.ofSeconds(1);

    private static final Duration DEFAULT_READ = Duration.ofSeconds(30);

    private enum State {
        OPEN,
        COMMITTED,
        UNKNOWN,
        NOT_OURS
    }

    private final Connection connection;
    private final TransactionOptions options;
    private final Deadline deadline;
    private final Database database;
    private final Guard guard;
    private final boolean autoCommit;
    private final boolean readOnly;
    private final int networkTimeout;
    private Object mark = "not opened";
    private State state = State.OPEN;

    private Transaction(Connection connection, TransactionOptions options, Deadline deadline)
            throws SQLException {
        this.connection = connection;
        this.options = options;
        this.deadline = deadline;
        database = Database.of(connection);
        guard = new Guard(connection, deadline);
        autoCommit = connection.getAutoCommit();
        readOnly = connection.isReadOnly();
        networkTimeout = networkTimeout(connection);
    }

    /** Borrows a connection and opens a transaction on it, in one round trip. */
    public static Transaction begin(
            DataSource dataSource, TransactionOptions options, Deadline deadline)
            throws SQLException {
        return begin(dataSource, options, deadline, null);
    }

    /** The same with a first trip of one's own. */
    public static Transaction begin(
            DataSource dataSource,
            TransactionOptions options,
            Deadline deadline,
            Database.@Nullable Opening opening)
            throws SQLException {
        if (deadline.passed()) {
            throw new DeadlineExceededException("before a connection was asked for");
        }
        Connection connection = dataSource.getConnection();
        Transaction transaction;
        try {
            transaction = new Transaction(connection, options, deadline);
        } catch (Throwable failure) {
            closeAfter(failure, connection);
            throw failure;
        }
        try {
            transaction.open(opening == null ? transaction.database::mark : opening);
            return transaction;
        } catch (Throwable failure) {
            closeAfter(failure, transaction);
            throw failure;
        }
    }

    /**
     * What is done between the opening and the return of the connection; it commits by itself.
     *
     * @param <T> what it returns
     * @param <X> what it may throw
     */
    @FunctionalInterface
    public interface Body<T extends @Nullable Object, X extends Exception> {
        /** Rolled back unless it calls {@link Transaction#commit}. */
        T run(Transaction transaction) throws X, SQLException;
    }

    /**
     * Runs the body in a transaction and gives the connection back. No try-with-resources: that
     * fails where a driver throws the work's own exception again.
     */
    public static <T extends @Nullable Object, X extends Exception> T within(
            Transaction transaction, Body<T, X> body) throws X, SQLException {
        try {
            return runAndClose(transaction, body);
        } finally {
            transaction.guard.tellEnd(transaction.state == State.COMMITTED);
        }
    }

    private static <T extends @Nullable Object, X extends Exception> T runAndClose(
            Transaction transaction, Body<T, X> body) throws X, SQLException {
        T value;
        try {
            value = body.run(transaction);
        } catch (Throwable failure) {
            closeAfter(failure, transaction);
            var instead = transaction.insteadOf(failure);
            if (instead.isPresent()) {
                throw instead.get();
            }
            throw failure;
        }
        transaction.close();
        return value;
    }

    /** A read of one row's worth, as one statement on a borrowed connection. */
    @FunctionalInterface
    public interface Read<T> {
        /** Runs it. */
        T on(Connection connection) throws SQLException;
    }

    /** Reads without a transaction where the pool allows it: one round trip. */
    public static <T> T read(
            DataSource dataSource, TransactionOptions options, Deadline deadline, Read<T> read)
            throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            if (connection.getAutoCommit()) {
                return readWithin(deadline, connection, read);
            }
        }
        return within( // a transaction of ours, to be sure whose it is
                begin(dataSource, options, deadline), tx -> read.on(tx.connection()));
    }

    private static <T> T readWithin(Deadline deadline, Connection connection, Read<T> read)
            throws SQLException {
        int before = networkTimeout(connection);
        int bound = Database.millis(deadline.remaining().orElse(DEFAULT_READ).plus(GRACE));
        if (before != 0 && before <= bound) {
            return read.on(connection);
        }
        connection.setNetworkTimeout(Runnable::run, bound);
        try {
            return read.on(connection);
        } finally {
            connection.setNetworkTimeout(Runnable::run, before);
        }
    }

    /** The connection for the work: it refuses to end the transaction. */
    public Connection guarded() {
        return guard.connection();
    }

    /** The connection itself, for statements of ours. */
    public Connection connection() {
        return connection;
    }

    /** The last SQL error of the work that says nothing about its input, swallowed or not. */
    public Optional<SQLException> transientError() {
        return guard.transientError();
    }

    /** Says of the work on this guarded connection that a version is missing. */
    public static void noteGap(Connection guarded, long expected) {
        Guard.noteGap(guarded, expected);
    }

    /** The version that the work found missing, if it did. */
    public OptionalLong gap() {
        return guard.gap();
    }

    /** The failure to report instead of one that would run the work again, if that may not be. */
    private Optional<TransactionEndedByWorkException> insteadOf(Throwable failure) {
        if (!guard.saidItsEnd() || !SqlState.isRetryable(failure)) {
            return Optional.empty();
        }
        var ended = new TransactionEndedByWorkException(); // part of the work may be durable
        ended.addSuppressed(failure);
        return Optional.of(ended);
    }

    /** What the opening returned. */
    public Object mark() {
        return mark;
    }

    private void open(Database.Opening opening) throws SQLException {
        if (!autoCommit && !options.isPoolAutoCommitOff()) {
            state = State.NOT_OURS;
            throw BorrowedTransactionException.autoCommitOff();
        }
        if (deadline.passed()) {
            throw new DeadlineExceededException("while a connection was waited for");
        }
        if (autoCommit) {
            connection.setAutoCommit(false);
        } else {
            try {
                database.refuseIfWritten(connection);
            } catch (BorrowedTransactionException e) {
                state = State.NOT_OURS;
                throw e;
            }
            connection.rollback(); // what the pool's validation query left open
        }
        if (deadline.remaining().isPresent()) {
            limitNetwork(deadline.remaining().get().plus(GRACE));
        }
        mark = database.open(connection, options, deadline, opening);
    }

    /**
     * Makes the work durable. Throws the server's error if it is certainly rolled back, {@link
     * SwallowedSqlErrorException} if the work hid an error that had already aborted it, and {@link
     * CommitOutcomeUnknownException} in every case in which the server's answer did not arrive.
     */
    public void commit() throws SQLException {
        commit(database::commit);
    }

    /** The same with a last trip of one's own. */
    public void commit(Database.Ending ending) throws SQLException {
        if (!guard.end()) {
            throw new TransactionControlException(
                    "commit", "another thread is still using the connection");
        }
        if (deadline.passed()) {
            throw new DeadlineExceededException("before COMMIT; everything is rolled back");
        }
        limitNetwork(options.commitTimeout());
        try {
            ending.commit(connection, mark);
            state = State.COMMITTED;
        } catch (Throwable failure) {
            if (SqlState.isSavepointGone(failure)) {
                throw new TransactionEndedByWorkException();
            }
            if (!SqlState.isDefinite(failure)) {
                state = State.UNKNOWN;
                throw new CommitOutcomeUnknownException(failure);
            }
            if (SqlState.is(SqlState.IN_FAILED_TRANSACTION, failure)) {
                throw new SwallowedSqlErrorException(
                        guard.lastError().orElse((SQLException) failure));
            }
            if (SqlState.is(SqlState.FENCE, failure)
                    || SqlState.is(SqlState.NOT_THIS_TRANSACTION, failure)) {
                throw new TransactionEndedByWorkException();
            }
            throw failure;
        }
    }

    /**
     * Rolls back unless committed, restores the connection and gives it back. After a commit it
     * never throws.
     */
    @Override
    public void close() throws SQLException {
        boolean mine = guard.end();
        Throwable failure = null;
        if (state != State.UNKNOWN && mine) {
            failure = attempt(null, this::putBack);
        }
        if (state == State.UNKNOWN || !mine || failure != null) {
            // in an unknown state it must not serve anybody else
            failure = attempt(failure, () -> connection.abort(Runnable::run));
        }
        failure = attempt(failure, connection::close);
        if (failure == null) {
            return;
        }
        if (state == State.COMMITTED) { // durable: whatever it is, it must not look like a failure
            log.warn(
                    "a connection could not be restored after a commit and was dropped: {},"
                            + " SQLState {}",
                    failure.getClass().getName(),
                    failure instanceof SQLException e ? e.getSQLState() : "none");
            return;
        }
        if (failure instanceof SQLException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
        throw (RuntimeException) failure;
    }

    private interface Step {
        void run() throws SQLException;
    }

    /** Runs the step whatever it throws, and returns the first failure with the others in it. */
    private static @Nullable Throwable attempt(@Nullable Throwable first, Step step) {
        try {
            step.run();
            return first;
        } catch (Throwable next) {
            if (first == null) {
                return next;
            }
            suppress(first, next);
            return first;
        }
    }

    private static void suppress(Throwable first, Throwable next) {
        if (first != next) { // some drivers throw one instance again and again
            first.addSuppressed(next);
        }
    }

    private void putBack() throws SQLException {
        if (state != State.NOT_OURS) {
            if (!connection.getAutoCommit()) {
                limitNetwork(rollbackTimeout()); // a dead network must not hold the caller
                connection.rollback(); // after a commit too: setAutoCommit(true) commits strays
            }
            restore();
        }
        restoreNetwork();
    }

    private Duration rollbackTimeout() {
        return deadline.remaining()
                .map(left -> left.plus(GRACE))
                .filter(left -> left.compareTo(options.commitTimeout()) < 0)
                .orElse(options.commitTimeout());
    }

    private void restore() throws SQLException {
        database.restore(connection);
        if (connection.getAutoCommit() != autoCommit) {
            connection.setAutoCommit(autoCommit);
        }
        if (connection.isReadOnly() != readOnly) {
            connection.setReadOnly(readOnly);
        }
    }

    private void restoreNetwork() throws SQLException {
        if (networkTimeout >= 0 && connection.getNetworkTimeout() != networkTimeout) {
            connection.setNetworkTimeout(Runnable::run, networkTimeout);
        }
    }

    /** Tightens the socket's timeout, never loosens one that the user has set. */
    private void limitNetwork(Duration limit) throws SQLException {
        int millis = Database.millis(limit);
        if (networkTimeout == 0 || networkTimeout > millis) {
            try {
                connection.setNetworkTimeout(Runnable::run, millis);
            } catch (SQLFeatureNotSupportedException | AbstractMethodError e) {
                log.debug("the driver has no network timeout, so COMMIT is not bounded");
            }
        }
    }

    /** Minus one where the driver has no such thing. */
    private static int networkTimeout(Connection connection) throws SQLException {
        try {
            return connection.getNetworkTimeout();
        } catch (SQLFeatureNotSupportedException | AbstractMethodError e) {
            return -1;
        }
    }

    private static void closeAfter(Throwable failure, AutoCloseable resource) {
        try {
            resource.close();
        } catch (Throwable e) {
            suppress(failure, e);
        }
    }
}
