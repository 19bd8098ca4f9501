package io.onlyonce.sql;

import io.onlyonce.tx.BorrowedTransactionException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * PostgreSQL 13 and later. All it changes ends with the transaction, so poolers in transaction mode
 * are safe.
 */
public final class PostgreSql extends Database {

    /**
     * Selects what proves a transaction: its frozen time, and that nobody has written in it. Names
     * are qualified, so that no search path can put another clock in the place of the server's.
     */
    public static final String MARK =
            "SELECT pg_catalog.now() AS opened_at,"
                    + " pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL AS has_written";

    @Override
    public String name() {
        return "postgresql";
    }

    /** A trip of its own: a failing SET TRANSACTION would abort the transaction it found. */
    @Override
    void refuseIfWritten(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try (ResultSet row = statement.executeQuery(MARK)) {
                row.next();
                markOf(row);
            }
        } catch (SQLException e) {
            if (SqlState.is(SqlState.IN_FAILED_TRANSACTION, e)) {
                throw BorrowedTransactionException.inTransaction();
            }
            throw e;
        }
    }

    @Override
    Object open(
            Connection connection, TransactionOptions options, Deadline deadline, Opening opening)
            throws SQLException {
        try {
            return opening.open(connection, settings(options, deadline));
        } catch (SQLException e) {
            if (SqlState.is(SqlState.ACTIVE_TRANSACTION, e)) { // SET TRANSACTION came too late
                throw BorrowedTransactionException.inTransaction();
            }
            throw e;
        }
    }

    @Override
    Object mark(Connection connection, String settings) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(settings + MARK);
            skipToRows(statement);
            try (var row = statement.getResultSet()) {
                row.next();
                return markOf(row);
            }
        }
    }

    private static String level(Isolation isolation) {
        return switch (isolation) {
            case READ_COMMITTED -> "READ COMMITTED";
            case REPEATABLE_READ -> "REPEATABLE READ";
            case SERIALIZABLE -> "SERIALIZABLE";
        };
    }

    /**
     * The statements to pipe before the first one of a transaction; they cost no trip of their own.
     */
    private static String settings(TransactionOptions options, Deadline deadline) {
        return "SET TRANSACTION ISOLATION LEVEL "
                + level(options.isolation())
                + timeout("lock_timeout", options.lockTimeout())
                + timeout("statement_timeout", statementTimeout(options, deadline))
                + ";";
    }

    private static String timeout(String name, Optional<Duration> bound) {
        return bound.isEmpty() ? "" : ";SET LOCAL " + name + "=" + millis(bound.get());
    }

    /**
     * now() stands still within a transaction: another value means that the work ended ours with
     * SQL text and is in its next one. The empty width_bucket raises 2201G; it hangs on now() so
     * that the planner cannot fold it. COMMIT alone would answer an aborted transaction with
     * ROLLBACK, and the driver would return normally.
     */
    public static final String FENCE =
            "SELECT CASE WHEN pg_catalog.now() OPERATOR(pg_catalog.=) ? THEN 1 ELSE"
                    + " pg_catalog.width_bucket(0, 0, 0 OPERATOR(pg_catalog.*) extract(epoch FROM"
                    + " pg_catalog.now())::pg_catalog.float8, 1) END";

    private static final String FENCED_COMMIT = FENCE + "; COMMIT";

    /** The claim's bound on waiting for a purge or an operator that has just that row. */
    public static final Duration CLAIM_LOCK_TIMEOUT = Duration.ofMillis(500);

    private static final String LIMIT =
            """
            pg_catalog.set_config('onlyonce.lock_timeout', pg_catalog.current_setting('lock_timeout'), true),
                pg_catalog.set_config('lock_timeout', '%d', true)\
            """;

    /** A column that ends what {@link #limitedMark} began. */
    public static final String UNLIMITED =
            """
            pg_catalog.set_config('lock_timeout', pg_catalog.current_setting('onlyonce.lock_timeout'), true)\
            """;

    /** Bounds the waiting of these statements alone, and costs no trip. */
    public static String limited(Duration bound, String statements) {
        return "SELECT %s;\n%s;\nSELECT %s"
                .formatted(LIMIT.formatted(millis(bound)), statements, UNLIMITED);
    }

    /** Selects the mark, and bounds the waiting of what follows until {@link #UNLIMITED}. */
    public static String limitedMark(Duration bound) {
        return MARK + ", " + LIMIT.formatted(millis(bound));
    }

    /** The next result that is one of rows; the first one of all if {@code first}. */
    public static ResultSet nextRows(Statement statement, boolean first) throws SQLException {
        if (!first) {
            statement.getMoreResults();
        }
        skipToRows(statement);
        return statement.getResultSet();
    }

    @Override
    void commit(Connection connection, Object mark) throws SQLException {
        try (var statement = connection.prepareStatement(FENCED_COMMIT)) {
            statement.setObject(1, mark);
            statement.execute();
        }
    }

    @Override
    void restore(Connection connection) {}

    /** Reads the columns that {@link #MARK} selects. */
    public static OffsetDateTime markOf(ResultSet row) throws SQLException {
        if (row.getBoolean("has_written")) {
            throw BorrowedTransactionException.inTransaction();
        }
        return row.getObject("opened_at", OffsetDateTime.class);
    }

    /** How many rows all statements of a trip have changed that do not return any. */
    public static int changes(Statement statement) throws SQLException {
        int changes = 0;
        int count = statement.getUpdateCount();
        while (true) {
            changes += Math.max(0, count);
            boolean hasRows = statement.getMoreResults();
            count = statement.getUpdateCount();
            if (!hasRows && count == -1) {
                return changes;
            }
        }
    }

    /** Moves on to the next result that is one of rows, past the counts before it. */
    public static void skipToRows(Statement statement) throws SQLException {
        while (statement.getUpdateCount() != -1) {
            statement.getMoreResults();
        }
    }
}
