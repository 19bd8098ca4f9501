package io.onlyonce.compare;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import javax.sql.DataSource;

/**
 * What one writes by hand: a number as the key, a partial index over what is not published, 500
 * rows locked with SKIP LOCKED and marked or deleted while the lock is held.
 *
 * @param table {@link #LEAN} or {@link #EQUAL}
 * @param publisher called inside the transaction, as such loops do
 */
record SkipLocked(DataSource pool, String table, boolean delete, Consumer<List<Row>> publisher)
        implements Drain {

    /** Only what such a loop needs; an event's key may come twice. */
    static final String LEAN = "lean_outbox";

    /** The facts that the library stores, and a key that is unique per tenant. */
    static final String EQUAL = "equal_outbox";

    private static final String SELECT =
            """
            SELECT id, event_key, tenant, aggregate_type, aggregate_id, aggregate_version, event_type, payload
            FROM %s WHERE published_at IS NULL ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED\
            """;

    private static final String UPDATE = "UPDATE %s SET published_at = now() WHERE id = ANY (?)";

    private static final String DELETE = "DELETE FROM %s WHERE id = ANY (?)";

    /** An event as such a loop reads it. */
    record Row(
            long id,
            String key,
            String tenant,
            String aggregateType,
            String aggregateId,
            long version,
            String type,
            byte[] payload) {}

    static void create(Ground ground) throws SQLException {
        for (String table : List.of(LEAN, EQUAL)) {
            ground.execute(
                    """
                    CREATE TABLE %1$s (
                        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                        event_key text COLLATE "C" NOT NULL, tenant text COLLATE "C" NOT NULL,
                        aggregate_type text NOT NULL, aggregate_id text NOT NULL, aggregate_version bigint,
                        event_type text NOT NULL, payload bytea NOT NULL,
                        created_at timestamptz NOT NULL DEFAULT now(), published_at timestamptz);
                    CREATE INDEX %1$s_ready ON %1$s (id) WHERE published_at IS NULL\
                    """
                            .formatted(table));
        }
        ground.execute(
                """
                ALTER TABLE equal_outbox ADD COLUMN event_id uuid NOT NULL DEFAULT gen_random_uuid(),
                    ADD COLUMN attempts smallint NOT NULL DEFAULT 0, ADD COLUMN command_id text, ADD COLUMN headers text,
                    ADD COLUMN last_error text, ADD UNIQUE (event_key, tenant);
                CREATE INDEX ON equal_outbox (published_at) WHERE published_at IS NOT NULL\
                """);
    }

    @Override
    public void fill(int rows) throws SQLException {
        try (var connection = pool.getConnection();
                var truncate = connection.createStatement();
                var insert =
                        connection.prepareStatement(
                                """
                                INSERT INTO %s (event_key, tenant, aggregate_type, aggregate_id,
                                    aggregate_version, event_type, payload) VALUES (?, ?, 'Account', ?, ?, 'Deposited', ?)\
                                """
                                        .formatted(table))) {
            connection.setAutoCommit(false);
            truncate.execute("TRUNCATE " + table);
            for (int n = 0; n < rows; n++) {
                insert.setString(1, Backlog.key(n));
                insert.setString(2, Backlog.TENANT);
                insert.setString(3, Backlog.aggregate(n));
                insert.setLong(4, n);
                insert.setBytes(5, Backlog.payload(n));
                insert.addBatch();
            }
            insert.executeBatch();
            connection.commit();
        }
    }

    @Override
    public void drain(int rows) throws SQLException {
        Backlog.check(rows, work());
    }

    /** Until nothing is left that others have not locked; returns how many it moved. */
    long work() throws SQLException {
        long moved = 0;
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            for (int n = batch(connection); n > 0; n = batch(connection)) {
                moved += n;
            }
        }
        return moved;
    }

    private int batch(Connection connection) throws SQLException {
        List<Row> rows = new ArrayList<>();
        try (var select = connection.prepareStatement(SELECT.formatted(table));
                var row = select.executeQuery()) {
            while (row.next()) {
                rows.add(read(row));
            }
        }
        publisher.accept(rows);
        if (!rows.isEmpty()) {
            try (var mark =
                    connection.prepareStatement((delete ? DELETE : UPDATE).formatted(table))) {
                mark.setArray(
                        1, connection.createArrayOf("int8", rows.stream().map(Row::id).toArray()));
                mark.executeUpdate();
            }
        }
        connection.commit();
        return rows.size();
    }

    private static Row read(ResultSet row) throws SQLException {
        return new Row(
                row.getLong("id"),
                row.getString("event_key"),
                row.getString("tenant"),
                row.getString("aggregate_type"),
                row.getString("aggregate_id"),
                row.getLong("aggregate_version"),
                row.getString("event_type"),
                row.getBytes("payload"));
    }
}
