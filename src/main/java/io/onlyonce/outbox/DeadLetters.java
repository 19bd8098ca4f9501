package io.onlyonce.outbox;

import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.SqlState;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Events that failed too often. Their aggregates wait for them, unless the relay lets others pass.
 * Every method is one step in a transaction of the caller's.
 */
public final class DeadLetters {

    private final boolean postgres;
    private final String list;
    private final String requeue;
    private final String discard;
    private final String unblock;

    private DeadLetters(RelaySetup setup) {
        postgres = setup.database() instanceof PostgreSql;
        String now = postgres ? "pg_catalog.clock_timestamp()" : "CURRENT_TIMESTAMP(6)";
        list =
                "SELECT %s, last_error FROM %s.outbox_event WHERE state = 2 ORDER BY seq LIMIT ?"
                        .formatted(RelayStore.COLUMNS, setup.schema());
        String update =
                """
                UPDATE %s.outbox_event SET state = %d, attempts = 0, settled_at = %s
                WHERE event_key = ? AND tenant = ? AND state = 2\
                """;
        String source =
                """
                SELECT %1$s, bucket, false, aggregate_id, aggregate_type, tenant FROM %2$s\
                """;
        // The aggregate is due now; if others waited for it, they go on waiting until it is
        // through. One statement: in autocommit mode, what comes between two would leave an event
        // that waits for ever and is no dead letter any more.
        String change =
                postgres
                        ? """
                        WITH changed AS (%%s RETURNING bucket, aggregate_id, aggregate_type, tenant)
                        INSERT INTO %s.outbox_blocked AS b
                            (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
                        %s
                        ON CONFLICT (aggregate_id, aggregate_type, tenant)
                        DO UPDATE SET blocked_until = excluded.blocked_until\
                        """
                                .formatted(setup.schema(), source.formatted(now, "changed"))
                        : "%s";
        requeue = change.formatted(update.formatted(setup.schema(), 3, "NULL"));
        discard = change.formatted(update.formatted(setup.schema(), 4, now));
        unblock = // H2 has no such statement
                """
                MERGE INTO %s.outbox_blocked b USING (%s) s (until, bucket, waits, id, type, tenant)
                ON b.aggregate_id = s.id AND b.aggregate_type = s.type AND b.tenant = s.tenant
                WHEN MATCHED THEN UPDATE SET b.blocked_until = s.until
                WHEN NOT MATCHED THEN INSERT
                    (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
                    VALUES (s.until, s.bucket, s.waits, s.id, s.type, s.tenant)\
                """
                        .formatted(
                                setup.schema(),
                                source.formatted(now, setup.schema() + ".outbox_event")
                                        + " WHERE event_key = ? AND tenant = ?");
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a RelaySetup
    public static DeadLetters of(RelaySetup setup) {
        return new DeadLetters(setup);
    }

    /**
     * A dead letter.
     *
     * @param error what the publisher said last
     */
    public record DeadLetter(OutboxEvent event, String error) {}

    /** The oldest of them, at most so many. */
    public List<DeadLetter> list(Connection connection, int limit) throws SQLException {
        List<DeadLetter> letters = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(list)) {
            statement.setInt(1, limit);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    letters.add(
                            new DeadLetter(
                                    RelayStore.stored(row, true).event(),
                                    row.getString("last_error")));
                }
            }
        }
        return letters;
    }

    /** Offers it again, with all its attempts; false if it is no dead letter. */
    public boolean requeue(Connection connection, String tenant, String eventKey)
            throws SQLException {
        return change(connection, requeue, tenant, eventKey);
    }

    /**
     * Gives it up for good, so that its aggregate goes on; false if it is no dead letter. The row
     * stays, and its key is taken, until retention removes it like a published one.
     */
    public boolean discard(Connection connection, String tenant, String eventKey)
            throws SQLException {
        return change(connection, discard, tenant, eventKey);
    }

    private boolean change(Connection connection, String change, String tenant, String eventKey)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(change)) {
            statement.setString(1, eventKey);
            statement.setString(2, tenant);
            boolean isChanged = statement.executeUpdate() == 1;
            if (isChanged && !postgres) {
                unblock(connection, tenant, eventKey);
            }
            return isChanged;
        } catch (SQLException e) {
            throw SqlState.withoutDetail(e);
        }
    }

    private void unblock(Connection connection, String tenant, String eventKey)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(unblock)) {
            statement.setString(1, eventKey);
            statement.setString(2, tenant);
            statement.executeUpdate();
        }
    }
}
