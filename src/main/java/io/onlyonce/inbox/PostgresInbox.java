package io.onlyonce.inbox;

import io.onlyonce.inbox.InboxSeen.Stored;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The claim on PostgreSQL: one statement for any number of messages tries their locks, inserts the
 * rows of those that nobody has, and reads the rows of the others.
 */
final class PostgresInbox extends InboxStore {

    private static final String PROCESSED = "pg_catalog.now(), 1";
    private static final String UNFINISHED = "'-infinity'::timestamptz, 0";

    private final String claimAsProcessed;
    private final String claimAsStarted;
    private final EventRows events;

    PostgresInbox(CommandSetup setup) {
        super(setup, "pg_catalog.now()", "pg_catalog.clock_timestamp()");
        events = setup.events();
        claimAsProcessed =
                PostgreSql.MARK
                        + ";\n"
                        + PostgreSql.limited(
                                PostgreSql.CLAIM_LOCK_TIMEOUT, claim(setup.schema(), PROCESSED));
        claimAsStarted = claim(setup.schema(), UNFINISHED);
    }

    /**
     * OFFSET 0 keeps the planner from joining the whole table: a row is looked for only where none
     * was inserted. At SERIALIZABLE, reading a missing key would make messages that have nothing to
     * do with each other abort each other.
     */
    private static String claim(SchemaName schema, String end) {
        return """
        WITH asked AS MATERIALIZED (
            SELECT n, message_id, source, tenant, hash_version, payload_hash, key_id,
                pg_catalog.pg_try_advisory_xact_lock(lock_key) AS held
            FROM unnest(?::int8[], ?::text[], ?::text[], ?::text[], ?::int2[], ?::bytea[], ?::text[])
                WITH ORDINALITY AS m (lock_key, message_id, source, tenant, hash_version, payload_hash, key_id, n)),
        started AS (
            INSERT INTO %1$s.inbox_message (received_at, processed_at, status, hash_version, message_id, source, consumer,
                tenant, payload_hash, key_id)
            SELECT pg_catalog.now(), %2$s, hash_version, message_id, source, ?, tenant, payload_hash, key_id FROM asked WHERE held
            ON CONFLICT (message_id, source, consumer, tenant) DO NOTHING
            RETURNING message_id, source, tenant)
        SELECT a.held, s.message_id IS NOT NULL AS inserted, pg_catalog.now() AS opened_at, i.status, i.hash_version,
            i.payload_hash, i.key_id, i.received_at, i.received_at = pg_catalog.now() AS own
        FROM asked a
        LEFT JOIN started s ON s.message_id = a.message_id AND s.source = a.source AND s.tenant = a.tenant
        LEFT JOIN LATERAL (
            SELECT status, hash_version, payload_hash, key_id, received_at FROM %1$s.inbox_message
            WHERE s.message_id IS NULL AND message_id = a.message_id AND source = a.source AND consumer = ?
                AND tenant = a.tenant OFFSET 0) i ON true
        ORDER BY a.n\
        """
                .formatted(schema, end);
    }

    @Override
    Opened open(Connection connection, String settings, List<InboxRow> rows) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(settings + claimAsProcessed)) {
            bind(statement, rows);
            statement.execute();
            OffsetDateTime mark;
            try (ResultSet opened = PostgreSql.nextRows(statement, true)) {
                opened.next();
                mark = PostgreSql.markOf(opened);
            }
            PostgreSql.nextRows(statement, false).close(); // the lock timeout
            try (ResultSet found = PostgreSql.nextRows(statement, false)) {
                return new Opened(mark, seen(found, rows));
            }
        }
    }

    @Override
    InboxSeen claim(Connection connection, InboxRow row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(claimAsStarted)) {
            bind(statement, List.of(row));
            try (ResultSet found = statement.executeQuery()) {
                return seen(found, List.of(row)).get(0);
            }
        }
    }

    private static void bind(PreparedStatement statement, List<InboxRow> rows) throws SQLException {
        Connection connection = statement.getConnection();
        statement.setArray(1, connection.createArrayOf("int8", column(rows, InboxRow::lockKey)));
        statement.setArray(
                2, connection.createArrayOf("text", column(rows, row -> row.message().id())));
        statement.setArray(
                3, connection.createArrayOf("text", column(rows, row -> row.message().source())));
        statement.setArray(
                4, connection.createArrayOf("text", column(rows, row -> row.message().tenant())));
        statement.setArray(
                5, connection.createArrayOf("int2", column(rows, InboxRow::hashVersion)));
        statement.setArray(
                6,
                connection.createArrayOf(
                        "bytea", rows.stream().map(InboxRow::hash).toArray(byte[][]::new)));
        statement.setArray(7, connection.createArrayOf("text", column(rows, InboxRow::keyId)));
        statement.setString(8, rows.get(0).consumer());
        statement.setString(9, rows.get(0).consumer());
    }

    private static Object[] column(
            List<InboxRow> rows, Function<InboxRow, @Nullable Object> value) {
        return rows.stream().map(value).toArray();
    }

    private static List<InboxSeen> seen(ResultSet found, List<InboxRow> rows) throws SQLException {
        List<InboxSeen> seen = new ArrayList<>();
        for (InboxRow row : rows) {
            found.next();
            seen.add(
                    InboxSeen.decide(
                            row,
                            found.getBoolean("held"),
                            found.getBoolean("inserted"),
                            found.getObject("opened_at", OffsetDateTime.class),
                            stored(found)));
        }
        return seen;
    }

    /** Null also if somebody committed it after this statement's snapshot. */
    private static @Nullable Stored stored(ResultSet found) throws SQLException {
        int status = found.getInt("status");
        return found.wasNull()
                ? null
                : new Stored(
                        status,
                        found.getInt("hash_version"),
                        found.getString("key_id"),
                        found.getBytes("payload_hash"),
                        found.getObject("received_at", OffsetDateTime.class),
                        found.getBoolean("own"));
    }

    @Override
    int finishAndCommit(Connection connection, Object mark, Map<String, List<OutboxEvent>> events)
            throws SQLException {
        var sql = new StringBuilder(PostgreSql.FENCE);
        events.values().forEach(each -> sql.append(";\n").append(this.events.insert(each.size())));
        sql.append(";\nCOMMIT");
        try (PreparedStatement statement = connection.prepareStatement(sql.toString())) {
            statement.setObject(1, mark);
            int i = 2;
            for (var each : events.entrySet()) {
                this.events.bind(statement, i, each.getKey(), null, each.getValue());
                i += EventRows.BINDS;
            }
            statement.execute();
            return events.isEmpty() ? 0 : PostgreSql.changes(statement);
        }
    }

    @Override
    boolean tryLock(Connection connection, long lockKey) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_catalog.pg_try_advisory_xact_lock(?)")) {
            statement.setLong(1, lockKey);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
