package io.onlyonce.outbox;

import io.onlyonce.outbox.StoredEvent.Aggregate;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One trip to fetch, one to mark. */
final class PostgresRelay extends RelayStore {

    private final String fetch;
    private final String mark;
    private final String markFree;
    private final String block;

    PostgresRelay(SchemaName schema, boolean delete) {
        super(schema, "pg_catalog.clock_timestamp()", delete);
        // From the lowest number that is ready, always: a low number that commits late is found,
        // and an event is never seen without those of its aggregate that were committed before it
        // was appended. The inner LIMIT reads one bucket after the other and stops early.
        String ready =
                """
                SELECT e.*, coalesce(b.others_wait, false) AS behind FROM (
                    SELECT r.* FROM unnest(?::int2[]) AS o (bucket) CROSS JOIN LATERAL (
                        SELECT %2$s FROM %1$s.outbox_event WHERE bucket = o.bucket AND state = 0 ORDER BY seq LIMIT ?) r
                    LIMIT ?) e
                LEFT JOIN %1$s.outbox_blocked b ON b.aggregate_id = e.aggregate_id
                    AND b.aggregate_type = e.aggregate_type AND b.tenant = e.tenant\
                """
                        .formatted(schema, COLUMNS);
        String due =
                """
                SELECT b.blocked_until, b.bucket AS of_bucket, b.tenant AS of_tenant, b.aggregate_type AS of_type, b.aggregate_id AS of_id, e.*
                FROM (SELECT * FROM %1$s.outbox_blocked WHERE bucket = ANY (?::int2[])
                    AND blocked_until <= pg_catalog.clock_timestamp() ORDER BY blocked_until LIMIT 100) b
                LEFT JOIN LATERAL (
                    SELECT %2$s FROM %1$s.outbox_event WHERE aggregate_id = b.aggregate_id
                        AND aggregate_type = b.aggregate_type AND tenant = b.tenant AND state = 3
                    ORDER BY seq LIMIT ?) e ON true
                ORDER BY b.blocked_until, e.seq\
                """
                        .formatted(schema, COLUMNS);
        fetch = ready + ";\n" + due + ";\nCOMMIT"; // read only, and no trip of its own to end it
        String change =
                delete
                        ? "DELETE FROM %1$s.outbox_event e USING "
                        : "UPDATE %1$s.outbox_event e SET state = 1, settled_at ="
                                + " pg_catalog.clock_timestamp() FROM ";
        // The lease's row is locked, so that no other relay can take the bucket before this is
        // committed. The buckets that are held become the bits of one number: joined, each event
        // would be compared with each bucket.
        String held =
                """
                WITH held AS MATERIALIZED (
                    SELECT l.bucket FROM %1$s.outbox_lease l
                    JOIN unnest(?::int2[], ?::int8[]) AS o (bucket, token) ON l.bucket = o.bucket AND l.token = o.token
                    WHERE l.expires_at > pg_catalog.clock_timestamp()
                    ORDER BY l.bucket FOR UPDATE OF l)\
                """;
        String those =
                """
                unnest(?::int2[], ?::int8[]) AS k (bucket, seq)
                WHERE (SELECT pg_catalog.bit_or(1::int8 << bucket) FROM held) >> k.bucket & 1 = 1
                    AND e.bucket = k.bucket AND e.seq = k.seq AND e.state = 0\
                """;
        mark = (held + "\n" + change + those).formatted(schema);
        markFree =
                (held
                                + """
                                , free AS MATERIALIZED (
                                    SELECT e.event_key, e.tenant FROM %1$s.outbox_event e,
                                """
                                + those
                                + " FOR UPDATE OF e SKIP LOCKED)\n"
                                + change
                                + "free f WHERE e.event_key = f.event_key AND e.tenant = f.tenant")
                        .formatted(schema);
        block =
                """
                INSERT INTO %s.outbox_blocked AS b (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
                VALUES (coalesce(pg_catalog.clock_timestamp() + ?::bigint * interval '1 microsecond', 'infinity'),
                    ?, ?, ?, ?, ?)
                ON CONFLICT (aggregate_id, aggregate_type, tenant)
                DO UPDATE SET blocked_until = excluded.blocked_until, others_wait = excluded.others_wait\
                """
                        .formatted(schema);
    }

    @Override
    Fetched fetch(Connection connection, String settings, List<Integer> buckets, int limit)
            throws SQLException {
        // A bitmap would read all dead entries of a bucket each time, and never mark them as dead.
        String sql =
                settings
                        + "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; "
                        + fetch;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            var array = connection.createArrayOf("int2", buckets.toArray());
            statement.setArray(1, array);
            statement.setInt(2, limit);
            statement.setInt(3, limit);
            statement.setArray(4, array);
            statement.setInt(5, limit);
            statement.execute();
            PostgreSql.skipToRows(statement);
            List<StoredEvent> ready = new ArrayList<>();
            List<StoredEvent> behind = new ArrayList<>();
            try (ResultSet row = statement.getResultSet()) {
                while (row.next()) {
                    (row.getBoolean("behind") ? behind : ready).add(stored(row, false));
                }
            }
            // Within a bucket the numbers decide, whatever order the join gave.
            ready.sort((a, b) -> Long.compare(a.seq(), b.seq()));
            statement.getMoreResults();
            PostgreSql.skipToRows(statement);
            try (ResultSet row = statement.getResultSet()) {
                return new Fetched(ready, behind, due(row));
            }
        }
    }

    private static List<Due> due(ResultSet row) throws SQLException {
        Map<Aggregate, Due> due = new LinkedHashMap<>();
        while (row.next()) {
            var aggregate =
                    new Aggregate(
                            row.getString("of_tenant"),
                            row.getString("of_type"),
                            row.getString("of_id"));
            var until = row.getObject("blocked_until", OffsetDateTime.class);
            int bucket = row.getInt("of_bucket");
            Due of =
                    due.computeIfAbsent(
                            aggregate, a -> new Due(a, bucket, until, new ArrayList<>()));
            if (row.getString("event_key") != null) {
                of.events().add(stored(row, true));
            }
        }
        return new ArrayList<>(due.values());
    }

    @Override
    int markPublished(
            Connection connection,
            String settings,
            Map<Integer, Long> tokens,
            List<StoredEvent> events,
            boolean spare)
            throws SQLException {
        // A plan made for a tiny table must not read a large one whole. And nobody waits for the
        // disk: a mark that a crash of the server takes back is a delivery that is repeated.
        String sql =
                settings
                        + "SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; "
                        + "SET LOCAL synchronous_commit = off; "
                        + (spare ? markFree : "SET LOCAL lock_timeout = 250; " + mark)
                        + "; COMMIT"; // not reached if the mark fails
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(1, connection.createArrayOf("int2", tokens.keySet().toArray()));
            statement.setArray(2, connection.createArrayOf("int8", tokens.values().toArray()));
            statement.setArray(
                    3,
                    connection.createArrayOf(
                            "int2", events.stream().map(StoredEvent::bucket).toArray()));
            statement.setArray(
                    4,
                    connection.createArrayOf(
                            "int8", events.stream().map(StoredEvent::seq).toArray()));
            statement.execute();
            int count = 0;
            for (int n = statement.getUpdateCount(); n != -1; n = statement.getUpdateCount()) {
                count += n; // all others count nothing
                statement.getMoreResults();
            }
            return count;
        }
    }

    /**
     * Unless somebody has it in hand: who appends it again locks it until the end of a transaction
     * that may take long, and a relay that waited would keep the lease from all others.
     */
    @Override
    String one(String joins, SchemaName schema, String states) {
        return joins
                + """
                (SELECT event_key, tenant FROM %s.outbox_event
                    WHERE event_key = ? AND tenant = ? AND state IN (%s) FOR UPDATE SKIP LOCKED) f
                WHERE e.event_key = f.event_key AND e.tenant = f.tenant\
                """
                        .formatted(schema, states);
    }

    @Override
    String block() {
        return block;
    }
}
