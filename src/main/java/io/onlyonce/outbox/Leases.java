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
import java.util.SortedMap;
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

    /**
     * Says that this relay is alive and renews what it owns.
     *
     * @param share true if it gives up or takes until it has its fair share
     */
    SortedMap<Integer, Long> keep(Connection connection, Map<Integer, Long> held, boolean share)
            throws SQLException {
        heartbeat(connection);
        SortedMap<Integer, Long> mine = new TreeMap<>();
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
        if (share) {
            share(connection, mine, free);
        } else {
            each(connection, renew, mine.keySet(), micros);
        }
        return mine;
    }

    private void share(Connection connection, SortedMap<Integer, Long> mine, List<Long> free)
            throws SQLException {
        int share = share(connection);
        List<Integer> surplus = mine.keySet().stream().skip(share).toList();
        each(connection, release, surplus, owner);
        mine.keySet().removeAll(surplus);
        each(connection, renew, mine.keySet(), micros);
        List<Integer> taken = new ArrayList<>();
        for (long packed : free) {
            if (mine.size() < share) {
                mine.put((int) (packed & 0xFF), (packed >> 8) + 1);
                taken.add((int) (packed & 0xFF));
            }
        }
        each(connection, take, taken, micros, owner);
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

    /** One statement for each bucket, which it binds last, in one trip. */
    private static void each(
            Connection connection, String sql, Collection<Integer> buckets, Object... values)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int bucket : buckets) {
                for (int i = 0; i < values.length; i++) {
                    statement.setObject(i + 1, values[i]);
                }
                statement.setInt(values.length + 1, bucket);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    /** Gives everything up, so that the others need not wait for the leases to end. */
    int leave(Connection connection, Collection<Integer> buckets) throws SQLException {
        each(connection, release, buckets, owner);
        try (PreparedStatement statement = connection.prepareStatement(leave)) {
            statement.setString(1, owner);
            return statement.executeUpdate();
        }
    }
}
