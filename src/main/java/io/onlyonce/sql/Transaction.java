package io.onlyonce.sql;

import io.onlyonce.tx.BorrowedTransactionException;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.DeadlineExceededException;
import io.onlyonce.tx.SwallowedSqlErrorException;
import io.onlyonce.tx.TransactionEndedByWorkException;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;

import javax.sql.DataSource;

/**
 * One transaction on one borrowed connection. It commits for certain, rolls back for certain, or
 * says that it does not know; and the connection goes back as it came, or is aborted and never
 * pooled again.
 *
 * <p>Made for try-with-resources: what {@link #close} cannot undo is added to the failure as
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
        guard = new Guard(connection);
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
        Connection connection = dataSource.getConnection();
        if (!connection.getAutoCommit()) { // then it takes one of ours to be sure whose it is
            connection.close();
            try (var transaction = begin(dataSource, options, deadline)) {
                return read.on(transaction.connection());
            }
        }
        try (connection) {
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
    }

    /** The connection for the work: it refuses to end the transaction. */
    public Connection guarded() {
        return guard.connection();
    }

    /** The connection itself, for statements of ours. */
    public Connection connection() {
        return connection;
    }

    /** True if the work met an SQL error that says nothing about its input, swallowed or not. */
    public boolean metTransientError() {
        return guard.metTransientError();
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
        if (autoCommit) {
            connection.setAutoCommit(false);
        }
        if (deadline.remaining().isPresent()) {
            limitNetwork(deadline.remaining().get().plus(GRACE));
        }
        try {
            mark = database.open(connection, options, deadline, opening);
        } catch (BorrowedTransactionException e) {
            state = State.NOT_OURS;
            throw e;
        }
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
        guard.end();
        if (deadline.passed()) {
            throw new DeadlineExceededException("before COMMIT; everything is rolled back");
        }
        limitNetwork(options.commitTimeout());
        try {
            ending.commit(connection, mark);
            state = State.COMMITTED;
        } catch (Throwable failure) {
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
        guard.end();
        SQLException failure = null;
        if (state == State.UNKNOWN) {
            failure = abort(failure);
        } else {
            try {
                if (state == State.OPEN) {
                    connection.rollback();
                }
                if (state != State.NOT_OURS) {
                    restore();
                }
                restoreNetwork();
            } catch (SQLException e) {
                failure = abort(e);
            }
        }
        try {
            connection.close();
        } catch (SQLException e) {
            failure = join(failure, e);
        }
        if (failure == null) {
            return;
        }
        if (state == State.COMMITTED) {
            log.warn(
                    "a connection could not be restored after a commit and was dropped, SQLState"
                            + " {}",
                    failure.getSQLState());
            return;
        }
        throw failure;
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

    /** A connection in an unknown state must not serve anybody else. */
    private @Nullable SQLException abort(@Nullable SQLException failure) {
        try {
            connection.abort(Runnable::run);
            return failure;
        } catch (SQLException e) {
            return join(failure, e);
        }
    }

    /** Tightens the socket's timeout, never loosens one that the user has set. */
    private void limitNetwork(Duration limit) throws SQLException {
        int millis = Database.millis(limit);
        if (networkTimeout == 0 || networkTimeout > millis) {
            connection.setNetworkTimeout(Runnable::run, millis);
        }
    }

    /** Minus one where the driver has no such thing. */
    private static int networkTimeout(Connection connection) throws SQLException {
        try {
            return connection.getNetworkTimeout();
        } catch (SQLFeatureNotSupportedException e) {
            return -1;
        }
    }

    private static SQLException join(@Nullable SQLException first, SQLException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    private static void closeAfter(Throwable failure, AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            failure.addSuppressed(e);
        }
    }
}
