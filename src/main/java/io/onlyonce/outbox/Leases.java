package io.onlyonce.outbox;

import io.onlyonce.sql.Database;
import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which relay owns which bucket, until when on the database's clock, and the token that proves it.
 * A bucket changes hands only between batches, or when its owner was not heard of for a lease.
 */
final class Leases {

    private final String alive;
    private final String forget;
    private final String count;
    private final String all;
    private final String renew;
    private final String take;
    private final String release;
    private final String leave;
    private final String owner;
    private final long micros;

    Leases(Database database, SchemaName schema, String owner, Duration lease) {
        this.owner = owner;
        this.micros = lease.toNanos() / 1_000;
        boolean postgres = database instanceof PostgreSql;
        String now = postgres ? "pg_catalog.clock_timestamp()" : "CURRENT_TIMESTAMP(6)";
        String later =
                postgres
                        ? now + " + ? * interval '1 microsecond'"
                        : "DATEADD(MICROSECOND, CAST(? AS BIGINT), " + now + ")";
        String never =
                postgres ? "'-infinity'" : "TIMESTAMP WITH TIME ZONE '0001-01-01 00:00:00+00'";
        alive =
                postgres
                        ? "INSERT INTO %s.outbox_relay (expires_at, owner) VALUES (%s, ?) ON CONFLICT (owner) DO UPDATE SET expires_at = excluded.expires_at"
                                .formatted(schema, later)
                        : "MERGE INTO %s.outbox_relay (expires_at, owner) KEY (owner) VALUES (%s, ?)"
                                .formatted(schema, later);
        // Not those that are saying in this moment that they are alive: two relays would wait for
        // each other.
        String gone =
                "SELECT owner FROM %s.outbox_relay WHERE expires_at <= %s FOR UPDATE SKIP LOCKED";
        forget =
                postgres
                        ? ("DELETE FROM %s.outbox_relay WHERE owner IN (" + gone + ")")
                                .formatted(schema, schema, now)
                        : "DELETE FROM %s.outbox_relay WHERE expires_at <= %s"
                                .formatted(schema, now);
        count = "SELECT COUNT(*) FROM %s.outbox_relay WHERE expires_at > %s".formatted(schema, now);
        all =
                "SELECT bucket, token, owner, expires_at > %s AS alive FROM %s.outbox_lease ORDER BY bucket FOR UPDATE"
                        .formatted(now, schema);
        renew =
                "UPDATE %s.outbox_lease SET expires_at = %s WHERE bucket = ?"
                        .formatted(schema, later);
        take =
                "UPDATE %s.outbox_lease SET expires_at = %s, token = token + 1, owner = ? WHERE bucket = ?"
                        .formatted(schema, later);
        release =
                "UPDATE %s.outbox_lease SET expires_at = %s, owner = NULL WHERE owner = ? AND bucket = ?"
                        .formatted(schema, never);
        leave = "DELETE FROM %s.outbox_relay WHERE owner = ?".formatted(schema);
    }

    /** Says that this relay is alive, renews what it owns, and gives up or takes its fair share. */
    Map<Integer, Long> keep(Connection connection, Map<Integer, Long> held) throws SQLException {
        heartbeat(connection);
        int share = share(connection);
        Map<Integer, Long> mine = new TreeMap<>();
        List<Long> free = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(all)) {
            while (row.next()) {
                int bucket = row.getInt("bucket");
                long token = row.getLong("token");
                boolean isAlive = row.getBoolean("alive");
                boolean isMine = owner.equals(row.getString("owner"));
                if (isAlive && isMine && held.getOrDefault(bucket, -1L) == token) {
                    mine.put(bucket, token);
                } else if (!isAlive || isMine) { // mine: the answer to a commit was lost
                    free.add((token << 8) | bucket);
                }
            }
        }
        List<Integer> surplus = mine.keySet().stream().skip(share).toList();
        release(connection, surplus);
        mine.keySet().removeAll(surplus);
        renew(connection, mine.keySet());
        List<Integer> taken = new ArrayList<>();
        for (long packed : free) {
            if (mine.size() < share) {
                mine.put((int) (packed & 0xFF), (packed >> 8) + 1);
                taken.add((int) (packed & 0xFF));
            }
        }
        take(connection, taken);
        return mine;
    }

    private void heartbeat(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(alive)) {
            statement.setLong(1, micros);
            statement.setString(2, owner);
            statement.executeUpdate();
        }
    }

    private int share(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate(forget);
            try (ResultSet row = statement.executeQuery(count)) {
                row.next();
                int relays = Math.max(1, row.getInt(1));
                return (EventRows.BUCKETS + relays - 1) / relays;
            }
        }
    }

    private void renew(Connection connection, Collection<Integer> buckets) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(renew)) {
            for (int bucket : buckets) {
                statement.setLong(1, micros);
                statement.setInt(2, bucket);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private void take(Connection connection, Collection<Integer> buckets) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(take)) {
            for (int bucket : buckets) {
                statement.setLong(1, micros);
                statement.setString(2, owner);
                statement.setInt(3, bucket);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private void release(Connection connection, Collection<Integer> buckets) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(release)) {
            for (int bucket : buckets) {
                statement.setString(1, owner);
                statement.setInt(2, bucket);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    /** Gives everything up, so that the others need not wait for the leases to end. */
    int leave(Connection connection, Collection<Integer> buckets) throws SQLException {
        release(connection, buckets);
        try (PreparedStatement statement = connection.prepareStatement(leave)) {
            statement.setString(1, owner);
            return statement.executeUpdate();
        }
    }
}
