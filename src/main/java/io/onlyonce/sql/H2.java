package io.onlyonce.sql;

import io.onlyonce.tx.BorrowedTransactionException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/**
 * H2 2.x, in process. Isolation level and timeouts are session state there, so one object serves
 * one transaction and puts them back.
 */
public final class H2 extends Database {

    private static final int STRIPES = 1024;

    private int isolationBefore = Connection.TRANSACTION_NONE;
    private @Nullable Long lockTimeoutBefore;
    private @Nullable Long queryTimeoutBefore;

    @Override
    public String name() {
        return "h2";
    }

    @Override
    Object open(
            Connection connection, TransactionOptions options, Deadline deadline, Opening opening)
            throws SQLException {
        refuseIfWritten(connection); // first, because changing the isolation level commits
        isolationBefore = connection.getTransactionIsolation();
        connection.setTransactionIsolation(level(options.isolation()));
        try (Statement statement = connection.createStatement()) {
            if (options.lockTimeout().isPresent()) {
                lockTimeoutBefore = number(statement, "SELECT LOCK_TIMEOUT()");
                statement.execute("SET LOCK_TIMEOUT " + millis(options.lockTimeout().get()));
            }
            Optional<Duration> timeout = statementTimeout(options, deadline);
            if (timeout.isPresent()) {
                queryTimeoutBefore =
                        number(
                                statement,
                                "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE"
                                        + " SETTING_NAME = 'QUERY_TIMEOUT'");
                statement.execute("SET QUERY_TIMEOUT " + millis(timeout.get()));
            }
        }
        return opening.open(connection, "");
    }

    private static int level(Isolation isolation) {
        return switch (isolation) {
            case READ_COMMITTED -> Connection.TRANSACTION_READ_COMMITTED;
            case REPEATABLE_READ -> Connection.TRANSACTION_REPEATABLE_READ;
            case SERIALIZABLE -> Connection.TRANSACTION_SERIALIZABLE;
        };
    }

    @Override
    Object mark(Connection connection, String settings) {
        return "no mark";
    }

    @Override
    void refuseIfWritten(Connection connection) throws SQLException {
        if (hasWritten(connection)) {
            throw BorrowedTransactionException.inTransaction();
        }
    }

    private static boolean hasWritten(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return number(
                            statement,
                            "SELECT CONTAINS_UNCOMMITTED FROM INFORMATION_SCHEMA.SESSIONS"
                                    + " WHERE SESSION_ID = SESSION_ID()")
                    != 0;
        }
    }

    /** No fence: H2 keeps no time or id that stands still for exactly one transaction. */
    @Override
    void commit(Connection connection, Object mark) throws SQLException {
        connection.commit();
    }

    @Override
    void restore(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            if (lockTimeoutBefore != null) {
                statement.execute("SET LOCK_TIMEOUT " + lockTimeoutBefore);
            }
            if (queryTimeoutBefore != null) {
                statement.execute("SET QUERY_TIMEOUT " + queryTimeoutBefore);
            }
        }
        if (isolationBefore != Connection.TRANSACTION_NONE) {
            connection.setTransactionIsolation(isolationBefore);
        }
    }

    /**
     * A row of {@code lock_stripe} stands in for an advisory lock: true if this transaction has it
     * now. Neighbours in a stripe are refused too, and pass when they ask again.
     */
    public static boolean tryLock(Connection connection, SchemaName schema, long key)
            throws SQLException {
        try (var statement =
                connection.prepareStatement(
                        "SELECT stripe FROM %s.lock_stripe WHERE stripe = ? FOR UPDATE SKIP LOCKED"
                                .formatted(schema))) {
            statement.setInt(1, Math.floorMod(key, STRIPES));
            try (var row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Stands still from a transaction's first change to its end. */
    public static String transactionId(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("SELECT TRANSACTION_ID()")) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }

    private static long number(Statement statement, String query) throws SQLException {
        try (var row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
