package io.onlyonce.sql;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.onlyonce.outbox.OutboxEvent;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/** Rows of {@code outbox_event}, as a work appends them. */
public final class EventRows {

    private static final JsonMapper HEADERS = new JsonMapper();

    /** A constant of the schema. */
    public static final int BUCKETS = 64;

    /** How many values {@link #bind} binds. */
    public static final int BINDS = 11;

    private final boolean postgres;
    private final String notification;
    private final String insertSingle;
    private final String insertAll;
    private final String insertOne;
    private final String same;

    /**
     * Rows for this database.
     *
     * @param published true if they are written as published, for a reader of the log
     * @param notify true if relays of other processes are told when they are committed
     */
    public EventRows(Database database, SchemaName schema, boolean published, boolean notify) {
        postgres = database instanceof PostgreSql;
        notification =
                notify && postgres
                        ? ";\nSELECT pg_catalog.pg_notify('" + channel(schema) + "', '')"
                        : "";
        String state = published ? "1, CURRENT_TIMESTAMP" : "0, NULL";
        String into =
                """
                INSERT INTO %s.outbox_event AS e (tenant, command_id, aggregate_version, event_id, bucket, event_key,
                    aggregate_type, aggregate_id, event_type, headers, payload, state, settled_at)
                """
                        .formatted(schema);
        // A known key writes nothing if it says the same, and raises if not.
        String known =
                """

                ON CONFLICT (event_key, tenant) DO UPDATE SET event_key = e.event_key
                WHERE CASE WHEN (e.payload, e.event_type, e.aggregate_type, e.aggregate_id)
                        = (excluded.payload, excluded.event_type, excluded.aggregate_type, excluded.aggregate_id)
                        AND e.aggregate_version IS NOT DISTINCT FROM excluded.aggregate_version
                    THEN false ELSE %s.refuse('OO003', 'event key reused') END\
                """
                        .formatted(schema);
        // Two constant texts: one for the usual single event, which costs half, and one for any
        // number.
        insertSingle = into + "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " + state + ")" + known;
        insertAll =
                into
                        + """
                        SELECT ?, ?, n.version, n.event_id, n.bucket, n.event_key, n.aggregate_type, n.aggregate_id,
                            n.event_type, n.headers, n.payload, %s
                        FROM unnest(?::int8[], ?::uuid[], ?::int2[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                            ?::bytea[]) WITH ORDINALITY AS n (version, event_id, bucket, event_key, aggregate_type,
                            aggregate_id, event_type, headers, payload, position)
                        ORDER BY n.position\
                        """
                                .formatted(state)
                        + known;
        insertOne =
                insertSingle
                        .substring(0, insertSingle.indexOf("\nON CONFLICT"))
                        .replace(" AS e ", " ");
        same =
                """
                SELECT payload = ? AND event_type = ? AND aggregate_type = ? AND aggregate_id = ?
                    AND aggregate_version IS NOT DISTINCT FROM ? AS same
                FROM %s.outbox_event WHERE event_key = ? AND tenant = ?\
                """
                        .formatted(schema);
    }

    /** Where committed events are announced. */
    public static String channel(SchemaName schema) {
        return schema + "_outbox";
    }

    /** PostgreSQL: one statement for so many, to pipe with others. */
    public String insert(int count) {
        return (count == 1 ? insertSingle : insertAll) + notification;
    }

    /** Binds {@link #insert} from this index on. */
    public void bind(
            PreparedStatement statement,
            int from,
            String tenant,
            @Nullable String commandId,
            List<OutboxEvent> events)
            throws SQLException {
        statement.setString(from, tenant);
        statement.setString(from + 1, commandId);
        if (events.size() == 1) {
            bindSingle(statement, from + 2, tenant, events.get(0));
        } else {
            bindAll(statement, from + 2, tenant, events);
        }
    }

    private static void bindSingle(
            PreparedStatement statement, int from, String tenant, OutboxEvent event)
            throws SQLException {
        int i = from;
        statement.setObject(i++, version(event), Types.BIGINT);
        statement.setObject(i++, id(tenant, event));
        statement.setInt(i++, bucket(tenant, event));
        statement.setString(i++, event.key());
        statement.setString(i++, event.aggregateType());
        statement.setString(i++, event.aggregateId());
        statement.setString(i++, event.type());
        statement.setString(i++, headers(event));
        statement.setBytes(i, event.payload());
    }

    private static void bindAll(
            PreparedStatement statement, int from, String tenant, List<OutboxEvent> events)
            throws SQLException {
        Connection connection = statement.getConnection();
        int i = from;
        statement.setArray(
                i++, connection.createArrayOf("int8", column(events, EventRows::version)));
        statement.setArray(
                i++, connection.createArrayOf("uuid", column(events, e -> id(tenant, e))));
        statement.setArray(
                i++, connection.createArrayOf("int2", column(events, e -> bucket(tenant, e))));
        statement.setArray(i++, connection.createArrayOf("text", column(events, OutboxEvent::key)));
        statement.setArray(
                i++, connection.createArrayOf("text", column(events, OutboxEvent::aggregateType)));
        statement.setArray(
                i++, connection.createArrayOf("text", column(events, OutboxEvent::aggregateId)));
        statement.setArray(
                i++, connection.createArrayOf("text", column(events, OutboxEvent::type)));
        statement.setArray(
                i++, connection.createArrayOf("text", column(events, EventRows::headers)));
        statement.setArray(
                i++,
                connection.createArrayOf(
                        "bytea", events.stream().map(OutboxEvent::payload).toArray(byte[][]::new)));
    }

    /** Appends in one trip and returns the keys that were new. */
    public Set<String> append(Connection connection, String tenant, List<OutboxEvent> events)
            throws SQLException {
        if (events.isEmpty()) {
            return Set.of();
        }
        if (!postgres) {
            return insertEach(connection, tenant, null, events);
        }
        Set<String> appended = new HashSet<>();
        String sql =
                (events.size() == 1 ? insertSingle : insertAll)
                        + " RETURNING e.event_key"
                        + notification;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, 1, tenant, null, events);
            statement.execute();
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    appended.add(rows.getString("event_key"));
                }
            }
        }
        return appended;
    }

    /** H2: one by one; returns the keys that were new. */
    public Set<String> insertEach(
            Connection connection,
            String tenant,
            @Nullable String commandId,
            List<OutboxEvent> events)
            throws SQLException {
        Set<String> appended = new HashSet<>();
        for (OutboxEvent event : events) {
            if (!isKnown(connection, tenant, event)) {
                insertOne(connection, tenant, commandId, event);
                appended.add(event.key());
            }
        }
        return appended;
    }

    private boolean isKnown(Connection connection, String tenant, OutboxEvent event)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(same)) {
            statement.setBytes(1, event.payload());
            statement.setString(2, event.type());
            statement.setString(3, event.aggregateType());
            statement.setString(4, event.aggregateId());
            statement.setObject(5, version(event), Types.BIGINT);
            statement.setString(6, event.key());
            statement.setString(7, tenant);
            try (var row = statement.executeQuery()) {
                if (!row.next()) {
                    return false;
                }
                if (!row.getBoolean("same")) {
                    throw new SQLException("event key reused", SqlState.EVENT_KEY_REUSED);
                }
                return true;
            }
        }
    }

    private void insertOne(
            Connection connection, String tenant, @Nullable String commandId, OutboxEvent event)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insertOne)) {
            bind(statement, 1, tenant, commandId, List.of(event));
            statement.executeUpdate();
        }
    }

    private static Object[] column(
            List<OutboxEvent> events, Function<OutboxEvent, @Nullable Object> value) {
        return events.stream().map(value).toArray();
    }

    /** The same for ever for one tenant and key. */
    private static UUID id(String tenant, OutboxEvent event) {
        return Fingerprint.of("onlyonce/1", "event", tenant, event.key()).toUuid();
    }

    private static int bucket(String tenant, OutboxEvent event) {
        long hash =
                Fingerprint.of(
                                "onlyonce/1",
                                "aggregate",
                                tenant,
                                event.aggregateType(),
                                event.aggregateId())
                        .toLong();
        return Math.floorMod(hash, BUCKETS);
    }

    private static @Nullable Long version(OutboxEvent event) {
        return event.version().isPresent() ? event.version().getAsLong() : null;
    }

    private static @Nullable String headers(OutboxEvent event) {
        if (event.headers().isEmpty()) {
            return null;
        }
        try {
            return HEADERS.writeValueAsString(event.headers());
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("A map of strings is always JSON", e);
        }
    }
}
