package io.onlyonce.inbox;

import io.onlyonce.inbox.InboxSeen.Stored;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.H2;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The claim on H2: the same, one statement after the other. */
final class H2Inbox extends InboxStore {

    private static final String NOW = "CURRENT_TIMESTAMP(6)";
    private static final String UNFINISHED = "TIMESTAMP WITH TIME ZONE '0001-01-01 00:00:00+00'";

    private final String select;
    private final String insert;
    private final SchemaName schema;
    private final EventRows events;

    H2Inbox(CommandSetup setup) {
        super(setup, NOW, NOW);
        schema = setup.schema();
        events = setup.events();
        select =
                """
                SELECT status, hash_version, payload_hash, key_id, received_at, received_at = %s AS own
                FROM %s.inbox_message WHERE message_id = ? AND source = ? AND consumer = ? AND tenant = ?\
                """
                        .formatted(NOW, schema);
        insert =
                """
                INSERT INTO %1$s.inbox_message (message_id, source, consumer, tenant, received_at, processed_at, status,
                    hash_version, payload_hash, key_id)
                VALUES (?, ?, ?, ?, %2$s, CASE WHEN ? = 1 THEN %2$s ELSE %3$s END, ?, ?, ?, ?)\
                """
                        .formatted(schema, NOW, UNFINISHED);
    }

    @Override
    Opened open(Connection connection, String settings, List<InboxRow> rows) throws SQLException {
        List<InboxSeen> seen = new ArrayList<>();
        Object mark = "nothing was claimed";
        for (InboxRow row : rows) {
            InboxSeen next = claim(connection, row, InboxSeen.PROCESSED);
            if (next.state() == InboxSeen.State.STARTED) {
                mark = next.mark();
            }
            seen.add(next);
        }
        return new Opened(mark, seen);
    }

    @Override
    InboxSeen claim(Connection connection, InboxRow row) throws SQLException {
        return claim(connection, row, InboxSeen.STARTED);
    }

    private InboxSeen claim(Connection connection, InboxRow row, int status) throws SQLException {
        boolean held = tryLock(connection, row.lockKey());
        Stored stored = read(connection, row);
        boolean inserts = held && stored == null;
        if (inserts) {
            insert(connection, row, status);
        }
        Object mark = inserts ? H2.transactionId(connection) : "none";
        return InboxSeen.decide(row, held, inserts, mark, stored);
    }

    private @Nullable Stored read(Connection connection, InboxRow row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(select)) {
            bindKey(statement, 1, row);
            try (ResultSet found = statement.executeQuery()) {
                return found.next()
                        ? new Stored(
                                found.getInt("status"),
                                found.getInt("hash_version"),
                                found.getString("key_id"),
                                found.getBytes("payload_hash"),
                                found.getObject("received_at", OffsetDateTime.class),
                                found.getBoolean("own"))
                        : null;
            }
        }
    }

    private void insert(Connection connection, InboxRow row, int status) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            bindKey(statement, 1, row);
            statement.setInt(5, status);
            statement.setInt(6, status);
            statement.setInt(7, row.hashVersion());
            statement.setBytes(8, row.hash());
            statement.setString(9, row.keyId());
            statement.executeUpdate();
        } catch (SQLException e) {
            if (SqlState.is(SqlState.UNIQUE_VIOLATION, e)) { // committed after our snapshot
                throw new SQLException("claimed by somebody else", SqlState.SERIALIZATION_FAILURE);
            }
            throw e;
        }
    }

    @Override
    int finishAndCommit(Connection connection, Object mark, Map<String, List<OutboxEvent>> events)
            throws SQLException {
        if (!H2.transactionId(connection).equals(mark)) {
            throw new SQLException("not this transaction", SqlState.NOT_THIS_TRANSACTION);
        }
        int appended = 0;
        for (var each : events.entrySet()) {
            appended +=
                    this.events.insertEach(connection, each.getKey(), null, each.getValue()).size();
        }
        connection.commit();
        return appended;
    }

    @Override
    boolean tryLock(Connection connection, long lockKey) throws SQLException {
        return H2.tryLock(connection, schema, lockKey);
    }
}
