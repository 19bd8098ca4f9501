package io.onlyonce.outbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.onlyonce.outbox.StoredEvent.Aggregate;
import io.onlyonce.sql.Database;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/** What a relay reads and writes of the outbox; per database. */
abstract sealed class RelayStore permits PostgresRelay, H2Relay {

    private static final JsonMapper HEADERS = new JsonMapper();
    private static final TypeReference<TreeMap<String, String>> MAP = new TypeReference<>() {};

    static final String COLUMNS =
            "seq, bucket, attempts, event_key, tenant, aggregate_type, aggregate_id,"
                    + " aggregate_version, event_type, payload, headers, event_id, created_at,"
                    + " command_id";

    private final String waits;
    private final String charge;
    private final String emptied;
    private final String markWaiting;
    private final String lock;

    RelayStore(SchemaName schema, String now, boolean delete) {
        String set = "UPDATE %s.outbox_event e SET ".formatted(schema);
        charge = set + "state = ?, attempts = ?, last_error = ?" + one(" FROM ", schema, "0, 3");
        waits = set + "state = 3" + one(" FROM ", schema, "0");
        markWaiting =
                delete
                        ? "DELETE FROM %s.outbox_event e".formatted(schema)
                                + one(" USING ", schema, "3")
                        : set + "state = 1, settled_at = " + now + one(" FROM ", schema, "3");
        // blocked_until as it was read: an operator who requeues in this moment changes it, and
        // keeps the row.
        emptied =
                """
                DELETE FROM %1$s.outbox_blocked WHERE aggregate_id = ? AND aggregate_type = ? AND tenant = ?
                    AND blocked_until = ?
                    AND NOT EXISTS (SELECT 1 FROM %1$s.outbox_event e WHERE e.aggregate_id = outbox_blocked.aggregate_id
                        AND e.aggregate_type = outbox_blocked.aggregate_type AND e.tenant = outbox_blocked.tenant
                        AND e.state = 3)\
                """
                        .formatted(schema);
        lock =
                """
                SELECT bucket FROM %s.outbox_lease WHERE bucket = ? AND token = ? AND expires_at > %s FOR UPDATE\
                """
                        .formatted(schema, now);
    }

    static RelayStore of(Database database, SchemaName schema, OutboxMode mode) {
        boolean delete = mode == OutboxMode.DELETE;
        return database instanceof PostgreSql
                ? new PostgresRelay(schema, delete)
                : new H2Relay(schema, delete);
    }

    /**
     * What there is to do in some buckets.
     *
     * @param ready events to offer
     * @param behind ready events of aggregates that wait: to be taken out of the ready index
     * @param due events that have waited long enough, by aggregate
     */
    record Fetched(List<StoredEvent> ready, List<StoredEvent> behind, List<Due> due) {
        boolean isEmpty() {
            return ready.isEmpty() && behind.isEmpty() && due.isEmpty();
        }
    }

    /** An aggregate whose waiting is over, with the first of its events, or none. */
    record Due(
            Aggregate aggregate,
            int bucket,
            OffsetDateTime blockedUntil,
            List<StoredEvent> events) {}

    /**
     * An event that failed.
     *
     * @param attempts what it has been charged in all
     * @param backoffMicros how long its aggregate waits; null for ever, because it is dead
     */
    record Failure(StoredEvent event, int attempts, String error, @Nullable Long backoffMicros) {}

    /** What becomes of events besides the plain success. */
    record Settlement(
            List<StoredEvent> publishedWaiting,
            List<Failure> failures,
            List<StoredEvent> behind,
            List<Due> emptied,
            boolean othersWait) {}

    /**
     * What of it came about, because its bucket was still held and nobody was faster.
     *
     * @param marked how many events were marked as published
     * @param charged the failures that are stored
     */
    record Settled(int marked, List<Failure> charged) {}

    /** Of a change: the one event with this key and tenant, if its state is one of these. */
    abstract String one(String joins, SchemaName schema, String states);

    /** Reads the first ready events of these buckets, in their order, and what is due. */
    abstract Fetched fetch(Connection connection, String settings, List<Integer> buckets, int limit)
            throws SQLException;

    /**
     * Marks ready events of the buckets that are still held; returns how many.
     *
     * @param spare leaves out what somebody has in hand; else this fails with 55P03 after a moment
     */
    abstract int markPublished(
            Connection connection,
            String settings,
            Map<Integer, Long> tokens,
            List<StoredEvent> events,
            boolean spare)
            throws SQLException;

    /**
     * Blocks an aggregate: so many microseconds or for ever, bucket, whether others wait, id, type,
     * tenant.
     */
    abstract String block();

    /** Settles what belongs to buckets that are still held. */
    final Settled settle(Connection connection, Map<Integer, Long> tokens, Settlement settlement)
            throws SQLException {
        Map<Integer, Boolean> held = new TreeMap<>();
        for (var lease : new TreeMap<>(tokens).entrySet()) {
            held.put(lease.getKey(), lock(connection, lease.getKey(), lease.getValue()));
        }
        int marked = 0;
        for (StoredEvent event : settlement.publishedWaiting()) {
            marked += held.getOrDefault(event.bucket(), false) ? mark(connection, event) : 0;
        }
        List<Failure> charged = new ArrayList<>();
        for (Failure failure : settlement.failures()) {
            if (held.getOrDefault(failure.event().bucket(), false) && charge(connection, failure)) {
                charged.add(failure);
                if (failure.backoffMicros() != null || settlement.othersWait()) {
                    block(
                            connection,
                            failure.event(),
                            failure.backoffMicros(),
                            settlement.othersWait());
                }
            }
        }
        waitBehind(
                connection,
                settlement.behind().stream()
                        .filter(event -> held.getOrDefault(event.bucket(), false))
                        .toList());
        for (Due due : settlement.emptied()) {
            if (held.getOrDefault(due.bucket(), false)) { // its owner may be adding to it
                unblock(connection, due);
            }
        }
        return new Settled(marked, charged);
    }

    /** Locks the lease of a bucket; false if it is not held any more. */
    final boolean lock(Connection connection, int bucket, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lock)) {
            statement.setInt(1, bucket);
            statement.setLong(2, token);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private int mark(Connection connection, StoredEvent event) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(markWaiting)) {
            statement.setString(1, event.event().key());
            statement.setString(2, event.event().delivery().tenant());
            return statement.executeUpdate();
        }
    }

    private void block(
            Connection connection, StoredEvent event, @Nullable Long micros, boolean othersWait)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(block())) {
            statement.setObject(1, micros, Types.BIGINT);
            statement.setInt(2, event.bucket());
            statement.setBoolean(3, othersWait);
            statement.setString(4, event.aggregate().id());
            statement.setString(5, event.aggregate().type());
            statement.setString(6, event.aggregate().tenant());
            statement.executeUpdate();
        }
    }

    /** False if it was published, discarded or deleted meanwhile. */
    private boolean charge(Connection connection, Failure failure) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(charge)) {
            statement.setInt(1, failure.backoffMicros() == null ? 2 : 3);
            statement.setInt(2, failure.attempts());
            statement.setString(3, storable(failure.error()));
            statement.setString(4, failure.event().event().key());
            statement.setString(5, failure.event().event().delivery().tenant());
            return statement.executeUpdate() == 1;
        }
    }

    /** What a publisher says may be anything; its event must be charged all the same. */
    private static String storable(String error) {
        String cut = error.length() > 2000 ? error.substring(0, 2000) : error;
        return new String(cut.getBytes(UTF_8), UTF_8).replace('\0', ' '); // no half surrogates
    }

    private void waitBehind(Connection connection, List<StoredEvent> events) throws SQLException {
        if (events.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(waits)) {
            for (StoredEvent event : events) {
                statement.setString(1, event.event().key());
                statement.setString(2, event.event().delivery().tenant());
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private void unblock(Connection connection, Due due) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(emptied)) {
            statement.setString(1, due.aggregate().id());
            statement.setString(2, due.aggregate().type());
            statement.setString(3, due.aggregate().tenant());
            statement.setObject(4, due.blockedUntil());
            statement.executeUpdate();
        }
    }

    static StoredEvent stored(ResultSet row, boolean waiting) throws SQLException {
        int attempts = row.getInt("attempts");
        long version = row.getLong("aggregate_version");
        OptionalLong known = row.wasNull() ? OptionalLong.empty() : OptionalLong.of(version);
        var delivery =
                new Delivery(
                        row.getObject("event_id", UUID.class),
                        row.getString("tenant"),
                        attempts + 1,
                        row.getObject("created_at", OffsetDateTime.class).toInstant(),
                        Optional.ofNullable(row.getString("command_id")));
        return new StoredEvent(
                row.getLong("seq"),
                row.getInt("bucket"),
                attempts,
                waiting,
                OutboxEvent.stored(
                        row.getString("event_key"),
                        row.getString("aggregate_type"),
                        row.getString("aggregate_id"),
                        row.getString("event_type"),
                        row.getBytes("payload"),
                        known,
                        headers(row.getString("headers")),
                        delivery));
    }

    private static SortedMap<String, String> headers(@Nullable String json) {
        if (json == null) {
            return new TreeMap<>();
        }
        try {
            return HEADERS.readValue(json, MAP);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("The headers of an event are not a JSON object.", e);
        }
    }
}
