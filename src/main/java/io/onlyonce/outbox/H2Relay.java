package io.onlyonce.outbox;

import io.onlyonce.outbox.StoredEvent.Aggregate;
import io.onlyonce.sql.SchemaName;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The same in small steps, which cost no trips in process. */
final class H2Relay extends RelayStore {

    private static final String NOW = "CURRENT_TIMESTAMP(6)";
    private static final String NEVER = "TIMESTAMP WITH TIME ZONE '9999-12-31 23:59:59+00'";

    private final String ready;
    private final String dueAggregates;
    private final String waiting;
    private final String mark;
    private final String block;

    H2Relay(SchemaName schema, boolean delete) {
        super(schema, NOW, delete);
        ready =
                """
                SELECT %2$s, EXISTS (SELECT 1 FROM %1$s.outbox_blocked b WHERE b.aggregate_id = e.aggregate_id
                    AND b.aggregate_type = e.aggregate_type AND b.tenant = e.tenant AND b.others_wait) AS behind
                FROM %1$s.outbox_event e WHERE bucket = ? AND state = 0 ORDER BY seq LIMIT ?\
                """
                        .formatted(schema, COLUMNS);
        dueAggregates =
                """
                SELECT blocked_until, tenant, aggregate_type, aggregate_id FROM %s.outbox_blocked
                WHERE bucket = ? AND blocked_until <= %s ORDER BY blocked_until LIMIT 100\
                """
                        .formatted(schema, NOW);
        waiting =
                """
                SELECT %s FROM %s.outbox_event WHERE aggregate_id = ? AND aggregate_type = ? AND tenant = ? AND state = 3
                ORDER BY seq LIMIT ?\
                """
                        .formatted(COLUMNS, schema);
        mark =
                (delete
                                ? "DELETE FROM %s.outbox_event"
                                : "UPDATE %s.outbox_event SET state = 1, settled_at = " + NOW)
                        .concat(" WHERE event_key = ? AND tenant = ? AND state = 0")
                        .formatted(schema);
        block =
                """
                MERGE INTO %s.outbox_blocked (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
                KEY (aggregate_id, aggregate_type, tenant)
                VALUES (COALESCE(DATEADD(MICROSECOND, CAST(? AS BIGINT), %s), %s), ?, ?, ?, ?, ?)\
                """
                        .formatted(schema, NOW, NEVER);
    }

    @Override
    Fetched fetch(Connection connection, String settings, List<Integer> buckets, int limit)
            throws SQLException {
        List<StoredEvent> ready = new ArrayList<>();
        List<StoredEvent> behind = new ArrayList<>();
        List<Due> due = new ArrayList<>();
        for (int bucket : buckets) {
            if (ready.size() + behind.size() < limit) {
                readReady(connection, bucket, limit - ready.size() - behind.size(), ready, behind);
            }
            readDue(connection, bucket, limit, due);
        }
        return new Fetched(ready, behind, due);
    }

    private void readReady(
            Connection connection,
            int bucket,
            int limit,
            List<StoredEvent> ready,
            List<StoredEvent> behind)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(this.ready)) {
            statement.setInt(1, bucket);
            statement.setInt(2, limit);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    (row.getBoolean("behind") ? behind : ready).add(stored(row, false));
                }
            }
        }
    }

    private void readDue(Connection connection, int bucket, int limit, List<Due> due)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(dueAggregates)) {
            statement.setInt(1, bucket);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    var aggregate =
                            new Aggregate(
                                    row.getString("tenant"),
                                    row.getString("aggregate_type"),
                                    row.getString("aggregate_id"));
                    due.add(
                            new Due(
                                    aggregate,
                                    bucket,
                                    row.getObject("blocked_until", OffsetDateTime.class),
                                    waiting(connection, aggregate, limit)));
                }
            }
        }
    }

    private List<StoredEvent> waiting(Connection connection, Aggregate aggregate, int limit)
            throws SQLException {
        List<StoredEvent> events = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(waiting)) {
            statement.setString(1, aggregate.id());
            statement.setString(2, aggregate.type());
            statement.setString(3, aggregate.tenant());
            statement.setInt(4, limit);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    events.add(stored(row, true));
                }
            }
        }
        return events;
    }

    @Override
    int markPublished(
            Connection connection,
            String settings,
            Map<Integer, Long> tokens,
            List<StoredEvent> events,
            boolean spare)
            throws SQLException {
        int count = 0;
        for (var lease : tokens.entrySet()) {
            if (lock(connection, lease.getKey(), lease.getValue())) {
                for (StoredEvent event : events) {
                    count += event.bucket() == lease.getKey() ? mark(connection, event) : 0;
                }
            }
        }
        return count;
    }

    private int mark(Connection connection, StoredEvent event) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(mark)) {
            statement.setString(1, event.event().key());
            statement.setString(2, event.event().delivery().tenant());
            return statement.executeUpdate();
        }
    }

    /** An append locks no row that is there. */
    @Override
    String one(String joins, SchemaName schema, String states) {
        return " WHERE event_key = ? AND tenant = ? AND state IN (" + states + ")";
    }

    @Override
    String block() {
        return block;
    }
}
