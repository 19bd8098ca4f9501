package io.onlyonce.command;

import io.onlyonce.sql.Database;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;

/** Rows of {@code key_budget}: what callers have taken, in shards, window by window. */
final class KeyBudgetRows {

    /** Longer than any window, so that no process forgets what another one's still counts on. */
    private static final Duration KEPT = Duration.ofDays(2);

    private final boolean postgres;
    private final Duration window;
    private final String clock;
    private final String take;
    private final String insert;
    private final String forget;

    /**
     * A window of the database's clock.
     *
     * @param start in seconds since 1970
     * @param left until the next one
     */
    record Window(long start, Duration left) {}

    /**
     * What is asked for.
     *
     * @param most what the shard may give in a window
     */
    record Row(String tenant, String caller, int shard, long portion, long most) {}

    record Taken(Window window, boolean granted) {}

    KeyBudgetRows(Database database, SchemaName schema, Duration window) {
        this.window = window;
        postgres = database instanceof PostgreSql;
        clock =
                postgres
                        ? "SELECT extract(epoch FROM pg_catalog.clock_timestamp())"
                        : "SELECT EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6))";
        insert =
                "INSERT INTO %s.key_budget (window_start, used, shard, caller, tenant) VALUES (?, ?, ?, ?, ?)"
                        .formatted(schema);
        take =
                postgres
                        ? insert.replace(".key_budget (", ".key_budget AS b (")
                                + """

                                ON CONFLICT (window_start, caller, tenant, shard)
                                DO UPDATE SET used = b.used + excluded.used WHERE b.used + excluded.used <= ?\
                                """
                        : "UPDATE %s.key_budget SET used = used + ? WHERE window_start = ? AND shard = ? AND caller = ? AND tenant = ? AND used + ? <= ?"
                                .formatted(schema);
        // Not what somebody else is removing in this moment: the two would wait for each other.
        forget =
                postgres
                        ? """
                        DELETE FROM %1$s.key_budget WHERE (window_start, caller, tenant, shard) IN (
                            SELECT window_start, caller, tenant, shard FROM %1$s.key_budget
                            WHERE window_start < ? ORDER BY window_start LIMIT 10000 FOR UPDATE SKIP LOCKED)\
                        """
                                .formatted(schema)
                        : "DELETE FROM %s.key_budget WHERE window_start < ?".formatted(schema);
    }

    /** Takes a portion if the shard has one. */
    Taken take(Connection connection, Row row) throws SQLException {
        Window now = now(connection);
        boolean granted =
                postgres ? upsert(connection, now, row) : updateOrInsert(connection, now, row);
        return new Taken(now, granted);
    }

    private Window now(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(clock)) {
            row.next();
            BigDecimal epoch = row.getBigDecimal(1);
            long start = Math.floorDiv(epoch.longValue(), window.toSeconds()) * window.toSeconds();
            long passed = epoch.subtract(BigDecimal.valueOf(start)).movePointRight(6).longValue();
            return new Window(start, window.minus(Duration.ofNanos(passed * 1_000)));
        }
    }

    private boolean upsert(Connection connection, Window now, Row row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(take)) {
            bindNew(statement, now, row);
            statement.setLong(6, row.most());
            return statement.executeUpdate() == 1;
        }
    }

    private boolean updateOrInsert(Connection connection, Window now, Row row) throws SQLException {
        if (update(connection, now, row)) {
            return true;
        }
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            bindNew(statement, now, row);
            return statement.executeUpdate() == 1;
        } catch (SQLException e) {
            if (SqlState.is(SqlState.UNIQUE_VIOLATION, e)) { // full, or inserted just now
                return update(connection, now, row);
            }
            throw e;
        }
    }

    private boolean update(Connection connection, Window now, Row row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(take)) {
            statement.setLong(1, row.portion());
            statement.setObject(2, time(now.start()));
            statement.setInt(3, row.shard());
            statement.setString(4, row.caller());
            statement.setString(5, row.tenant());
            statement.setLong(6, row.portion());
            statement.setLong(7, row.most());
            return statement.executeUpdate() == 1;
        }
    }

    private static void bindNew(PreparedStatement statement, Window now, Row row)
            throws SQLException {
        statement.setObject(1, time(now.start()));
        statement.setLong(2, row.portion());
        statement.setInt(3, row.shard());
        statement.setString(4, row.caller());
        statement.setString(5, row.tenant());
    }

    /** Removes what no window needs any more. */
    int forgetBefore(Connection connection, Window now) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(forget)) {
            statement.setObject(1, time(now.start() - KEPT.toSeconds()));
            return statement.executeUpdate();
        }
    }

    private static OffsetDateTime time(long seconds) {
        return Instant.ofEpochSecond(seconds).atOffset(ZoneOffset.UTC);
    }
}
