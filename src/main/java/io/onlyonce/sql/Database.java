package io.onlyonce.sql;

import io.onlyonce.UnsupportedDatabaseException;
import io.onlyonce.tx.BorrowedTransactionException;
import io.onlyonce.tx.TransactionOptions;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** What differs between databases for a transaction; one small type per database. */
public abstract sealed class Database permits PostgreSql, H2 {

    private static final Duration MAX_TIMEOUT = Duration.ofMillis(Integer.MAX_VALUE);

    Database() {}

    /** Asks the connection what it is connected to, without a round trip. */
    public static Database of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return switch (product) {
            case "PostgreSQL" -> new PostgreSql();
            case "H2" -> new H2();
            default -> throw new UnsupportedDatabaseException(product);
        };
    }

    /** The folder of its SQL files, also the name it goes by in logs. */
    public abstract String name();

    /** Refuses, without changing anything, a connection whose transaction has already written. */
    abstract void refuseIfWritten(Connection connection) throws SQLException;

    /**
     * The first trip of a transaction. It sends the settings before anything else in the same trip,
     * and returns the mark that the commit proves the transaction by.
     */
    @FunctionalInterface
    public interface Opening {
        /** Throws {@link BorrowedTransactionException} if the transaction has already written. */
        Object open(Connection connection, String settings) throws SQLException;
    }

    /** The last trip of a transaction: it commits, or fails and commits nothing. */
    @FunctionalInterface
    public interface Ending {
        /** Fails unless the mark is that of the transaction it commits. */
        void commit(Connection connection, Object mark) throws SQLException;
    }

    /**
     * Opens the transaction in one trip: states isolation level and timeouts for this transaction
     * alone, and returns the mark of the opening.
     */
    abstract Object open(
            Connection connection, TransactionOptions options, Deadline deadline, Opening opening)
            throws SQLException;

    /** The opening of a transaction that has nothing else to do. */
    abstract Object mark(Connection connection, String settings) throws SQLException;

    /**
     * Commits in one trip that fails, committing nothing, with {@link
     * SqlState#IN_FAILED_TRANSACTION} if the transaction is aborted and, where the database has a
     * mark, with {@link SqlState#FENCE} if it is not the one that was opened.
     */
    abstract void commit(Connection connection, Object mark) throws SQLException;

    /** Puts back what {@link #open} had to change for longer than the transaction. */
    abstract void restore(Connection connection) throws SQLException;

    /** The tighter of the statement timeout and what is left of the deadline. */
    static Optional<Duration> statementTimeout(TransactionOptions options, Deadline deadline) {
        Optional<Duration> left = deadline.remaining().map(Database::wholeSeconds);
        Optional<Duration> asked = options.statementTimeout();
        if (left.isEmpty() || asked.isEmpty()) {
            return left.or(() -> asked);
        }
        return left.get().compareTo(asked.get()) < 0 ? left : asked;
    }

    /** Milliseconds as the servers understand them: at least 1, because 0 would mean no timeout. */
    static int millis(Duration timeout) {
        return timeout.compareTo(MAX_TIMEOUT) > 0
                ? Integer.MAX_VALUE
                : (int) Math.max(1, timeout.toMillis());
    }

    /**
     * Rounded up, so that the SQL text hardly ever varies and stays in the driver's statement
     * cache.
     */
    private static Duration wholeSeconds(Duration left) {
        return Duration.ofSeconds(left.plusMillis(999).toSeconds());
    }
}
