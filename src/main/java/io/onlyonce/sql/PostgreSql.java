package io.onlyonce.sql;

import io.onlyonce.tx.BorrowedTransactionException;
import io.onlyonce.tx.TransactionOptions;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;

/**
 * PostgreSQL 13 and later. All it changes ends with the transaction, so poolers in transaction mode
 * are safe.
 */
public final class PostgreSql extends Database {

    private static final String MARK =
            "SELECT now() AS started_at, pg_current_xact_id_if_assigned() IS NOT NULL AS"
                    + " has_written";

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    Object open(Connection connection, TransactionOptions options, Deadline deadline)
            throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(opening(options, deadline) + MARK);
            return markOf(statement);
        } catch (SQLException e) {
            if (SqlState.is(SqlState.ACTIVE_TRANSACTION, e)) { // SET TRANSACTION came too late
                throw BorrowedTransactionException.inTransaction();
            }
            throw e;
        }
    }

    /**
     * The statements to pipe before the first one of a transaction; they cost no trip of their own.
     */
    public static String opening(TransactionOptions options, Deadline deadline) {
        var sql =
                new StringBuilder("SET TRANSACTION ISOLATION LEVEL ")
                        .append(options.isolation().sql())
                        .append(';');
        options.lockTimeout()
                .ifPresent(
                        t -> sql.append("SET LOCAL lock_timeout=").append(millis(t)).append(';'));
        statementTimeout(options, deadline)
                .ifPresent(
                        t ->
                                sql.append("SET LOCAL statement_timeout=")
                                        .append(millis(t))
                                        .append(';'));
        return sql.toString();
    }

    /**
     * now() stands still within a transaction: another value means that the work ended ours with
     * SQL text and is in its next one. The empty width_bucket raises 2201G; it hangs on now() so
     * that the planner cannot fold it. COMMIT alone would answer an aborted transaction with
     * ROLLBACK, and the driver would return normally.
     */
    private static final String FENCED_COMMIT =
            "SELECT CASE WHEN now() = ? THEN 1 ELSE width_bucket(0, 0, 0 * extract(epoch FROM"
                    + " now())::float8, 1) END; COMMIT";

    @Override
    void commit(Connection connection, Object mark) throws SQLException {
        try (var statement = connection.prepareStatement(FENCED_COMMIT)) {
            statement.setObject(1, mark);
            statement.execute();
        }
    }

    @Override
    void restore(Connection connection) {}

    private static Object markOf(Statement statement) throws SQLException {
        while (statement.getUpdateCount() != -1) {
            statement.getMoreResults();
        }
        try (var row = statement.getResultSet()) {
            row.next();
            if (row.getBoolean("has_written")) {
                throw BorrowedTransactionException.inTransaction();
            }
            return row.getObject("started_at", OffsetDateTime.class);
        }
    }
}
