package io.onlyonce.inbox;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.H2;
import io.onlyonce.sql.Names;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.TransactionRequiredException;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Remembers how far a projection has followed each aggregate, so that old news changes nothing and
 * nothing is skipped. The memory is part of the caller's transaction: what is rolled back was not
 * applied. Two transactions that advance the same aggregate go one after the other.
 *
 * <p>Strict as it comes: each version must follow the one before it. Inside {@link Inbox#process} a
 * {@code GAP} rolls everything back and ends as {@link InboxAnswer.Deferred}, whatever the work
 * does next. Thread-safe; immutable.
 */
public final class VersionGuard {

    private static final Comparator<Aggregate> ORDER =
            Comparator.comparing(Aggregate::id)
                    .thenComparing(Aggregate::type)
                    .thenComparing(Aggregate::tenant);

    private final SchemaName schema;
    private final boolean h2;
    private final boolean strict;
    private final long first;

    private VersionGuard(SchemaName schema, boolean h2, boolean strict, long first) {
        this.schema = schema;
        this.h2 = h2;
        this.strict = strict;
        this.first = first;
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a CommandSetup
    public static VersionGuard of(CommandSetup setup) {
        return new VersionGuard(setup.schema(), setup.database() instanceof H2, true, 1);
    }

    /** Versions may be left out, and never go back: {@code APPLY} or {@code STALE}, no gaps. */
    public VersionGuard monotonic() {
        return new VersionGuard(schema, h2, false, first);
    }

    /** The version that a new aggregate begins with; 1 unless this says otherwise. */
    public VersionGuard startingAt(long first) {
        if (first < 1) {
            throw new IllegalArgumentException("The first version must be at least 1.");
        }
        return new VersionGuard(schema, h2, strict, first);
    }

    /**
     * An aggregate's version, as an event tells it.
     *
     * @param tenant 1 to 128 characters
     * @param aggregateType 1 to 128 characters
     * @param aggregateId 1 to 255 characters
     */
    public record Step(String tenant, String aggregateType, String aggregateId, long version) {

        /** Refuses what could not be stored, with a sentence. */
        public Step {
            Names.require(tenant, "tenant", 128);
            Names.require(aggregateType, "aggregate type", 128);
            Names.require(aggregateId, "aggregate id", 255);
        }
    }

    private record Aggregate(String tenant, String type, String id) {}

    /**
     * Says whether this version is to be applied, and if so counts it as applied, in one round trip
     * and in the caller's transaction.
     *
     * @param projection what follows the aggregates, 1 to 128 characters
     * @throws TransactionRequiredException if the connection is in autocommit mode
     */
    public Advance advance(
            Connection connection,
            String projection,
            String tenant,
            String aggregateType,
            String aggregateId,
            long version)
            throws SQLException {
        var step = new Step(tenant, aggregateType, aggregateId, version);
        check(connection, projection);
        try {
            long[] found =
                    h2
                            ? followOnH2(connection, projection, step)
                            : followOnPostgres(connection, projection, step);
            return answer(connection, found[0] == 1, found[1], version);
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /**
     * The same for many, as if one after the other, in two round trips. Different transactions may
     * bring the same aggregates in any order.
     */
    public List<Advance> advanceAll(Connection connection, String projection, List<Step> steps)
            throws SQLException {
        check(connection, projection);
        if (steps.isEmpty()) {
            return List.of();
        }
        try {
            SortedMap<Aggregate, Long> versions = lock(connection, projection, steps);
            Map<Aggregate, Long> changed = new HashMap<>();
            List<Advance> answers = new ArrayList<>();
            for (Step step : steps) {
                var aggregate = aggregate(step);
                long current = versions.getOrDefault(aggregate, first - 1);
                boolean isNext = strict ? step.version() == current + 1 : step.version() > current;
                if (isNext) {
                    versions.put(aggregate, step.version());
                    changed.put(aggregate, step.version());
                }
                answers.add(
                        answer(
                                connection,
                                isNext,
                                isNext ? step.version() : current,
                                step.version()));
            }
            write(connection, projection, changed);
            return answers;
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /** Forgets how far a projection has come, to build it anew; returns how many aggregates. */
    public int reset(Connection connection, String projection) throws SQLException {
        check(connection, projection);
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "DELETE FROM %s.projection_version WHERE projection = ?"
                                .formatted(schema))) {
            statement.setString(1, projection);
            return statement.executeUpdate();
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /** The same for one aggregate; true if anything was known of it. */
    public boolean reset(
            Connection connection,
            String projection,
            String tenant,
            String aggregateType,
            String aggregateId)
            throws SQLException {
        var step = new Step(tenant, aggregateType, aggregateId, 0);
        check(connection, projection);
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "DELETE FROM %s.projection_version WHERE %s".formatted(schema, key()))) {
            bindKey(statement, 1, projection, aggregate(step));
            return statement.executeUpdate() == 1;
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private static void check(Connection connection, String projection) throws SQLException {
        Names.require(projection, "projection", 128);
        if (connection.getAutoCommit()) {
            throw new TransactionRequiredException();
        }
    }

    private Advance answer(Connection connection, boolean isNext, long current, long version) {
        if (isNext) {
            return new Advance(Advance.Kind.APPLY, current + 1);
        }
        if (version <= current) {
            return new Advance(Advance.Kind.STALE, current + 1);
        }
        Transaction.noteGap(connection, current + 1);
        return new Advance(Advance.Kind.GAP, current + 1);
    }

    /**
     * A new aggregate is stored as one that is about to begin, so that there is always a row to
     * wait for. Each statement sees what was committed before it, also while it waited.
     */
    private long[] followOnPostgres(Connection connection, String projection, Step step)
            throws SQLException {
        String sql = insert() + ";\n" + update() + ";\n" + select();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Aggregate aggregate = aggregate(step);
            statement.setLong(1, first - 1);
            bindKey(statement, 2, projection, aggregate);
            statement.setLong(6, step.version());
            bindKey(statement, 7, projection, aggregate);
            statement.setLong(11, step.version());
            bindKey(statement, 12, projection, aggregate);
            statement.execute(); // the count of the INSERT says nothing
            statement.getMoreResults();
            int updated = statement.getUpdateCount();
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                return new long[] {updated, row.getLong("version")};
            }
        }
    }

    private long[] followOnH2(Connection connection, String projection, Step step)
            throws SQLException {
        Aggregate aggregate = aggregate(step);
        insertOnH2(connection, projection, aggregate);
        int updated;
        try (PreparedStatement statement = connection.prepareStatement(update())) {
            statement.setLong(1, step.version());
            bindKey(statement, 2, projection, aggregate);
            statement.setLong(6, step.version());
            updated = statement.executeUpdate();
        }
        try (PreparedStatement statement = connection.prepareStatement(select())) {
            bindKey(statement, 1, projection, aggregate);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new long[] {updated, row.getLong("version")};
            }
        }
    }

    private void insertOnH2(Connection connection, String projection, Aggregate aggregate)
            throws SQLException {
        String sql =
                """
                MERGE INTO %s.projection_version p USING (VALUES (CAST(? AS BIGINT), CAST(? AS VARCHAR), CAST(? AS VARCHAR),
                    CAST(? AS VARCHAR), CAST(? AS VARCHAR))) v (version, aggregate_id, aggregate_type, tenant, projection)
                ON p.aggregate_id = v.aggregate_id AND p.aggregate_type = v.aggregate_type AND p.tenant = v.tenant
                    AND p.projection = v.projection
                WHEN NOT MATCHED THEN INSERT (version, aggregate_id, aggregate_type, tenant, projection)
                    VALUES (v.version, v.aggregate_id, v.aggregate_type, v.tenant, v.projection)\
                """
                        .formatted(schema);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, first - 1);
            bindKey(statement, 2, projection, aggregate);
            statement.executeUpdate();
        } catch (SQLException e) {
            if (!SqlState.is(SqlState.UNIQUE_VIOLATION, e)) { // somebody else was faster
                throw e;
            }
        }
    }

    private String insert() {
        return """
        INSERT INTO %s.projection_version (version, aggregate_id, aggregate_type, tenant, projection)
        VALUES (?, ?, ?, ?, ?) ON CONFLICT (aggregate_id, aggregate_type, tenant, projection) DO NOTHING\
        """
                .formatted(schema);
    }

    private String update() {
        return "UPDATE %s.projection_version SET version = ?, updated_at = %s WHERE %s AND version %s"
                .formatted(
                        schema,
                        h2 ? "CURRENT_TIMESTAMP(6)" : "pg_catalog.now()",
                        key(),
                        strict ? "= CAST(? AS bigint) - 1" : "< ?");
    }

    private String select() {
        return "SELECT version FROM %s.projection_version WHERE %s".formatted(schema, key());
    }

    private static String key() {
        return "aggregate_id = ? AND aggregate_type = ? AND tenant = ? AND projection = ?";
    }

    private static void bindKey(
            PreparedStatement statement, int from, String projection, Aggregate aggregate)
            throws SQLException {
        statement.setString(from, aggregate.id());
        statement.setString(from + 1, aggregate.type());
        statement.setString(from + 2, aggregate.tenant());
        statement.setString(from + 3, projection);
    }

    private static Aggregate aggregate(Step step) {
        return new Aggregate(step.tenant(), step.aggregateType(), step.aggregateId());
    }

    /** Locks all aggregates in one order, so that no two transactions wait for each other. */
    private SortedMap<Aggregate, Long> lock(
            Connection connection, String projection, List<Step> steps) throws SQLException {
        SortedMap<Aggregate, Long> versions = new TreeMap<>(ORDER);
        steps.forEach(step -> versions.put(aggregate(step), first - 1));
        if (h2) {
            for (var each : versions.entrySet()) {
                insertOnH2(connection, projection, each.getKey());
                try (PreparedStatement statement =
                        connection.prepareStatement(select() + " FOR UPDATE")) {
                    bindKey(statement, 1, projection, each.getKey());
                    try (ResultSet row = statement.executeQuery()) {
                        row.next();
                        each.setValue(row.getLong("version"));
                    }
                }
            }
            return versions;
        }
        String asked = "unnest(?::text[], ?::text[], ?::text[]) AS a (id, type, tenant)";
        String sql =
                """
                INSERT INTO %1$s.projection_version (version, aggregate_id, aggregate_type, tenant, projection)
                SELECT ?, a.id, a.type, a.tenant, ? FROM %2$s ORDER BY a.id COLLATE "C", a.type COLLATE "C", a.tenant COLLATE "C"
                ON CONFLICT (aggregate_id, aggregate_type, tenant, projection) DO NOTHING;
                SELECT p.aggregate_id, p.aggregate_type, p.tenant, p.version FROM %1$s.projection_version p JOIN %2$s
                ON p.aggregate_id = a.id AND p.aggregate_type = a.type AND p.tenant = a.tenant AND p.projection = ?
                ORDER BY p.aggregate_id, p.aggregate_type, p.tenant FOR UPDATE OF p\
                """
                        .formatted(schema, asked);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            List<Aggregate> aggregates = List.copyOf(versions.keySet());
            statement.setLong(1, first - 1);
            statement.setString(2, projection);
            bindAll(statement, 3, aggregates);
            bindAll(statement, 6, aggregates);
            statement.setString(9, projection);
            statement.execute();
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                while (row.next()) {
                    var aggregate =
                            new Aggregate(
                                    row.getString("tenant"),
                                    row.getString("aggregate_type"),
                                    row.getString("aggregate_id"));
                    versions.put(aggregate, row.getLong("version"));
                }
            }
            return versions;
        }
    }

    private static void bindAll(PreparedStatement statement, int from, List<Aggregate> aggregates)
            throws SQLException {
        Connection connection = statement.getConnection();
        Object[] ids = aggregates.stream().map(Aggregate::id).toArray();
        Object[] types = aggregates.stream().map(Aggregate::type).toArray();
        Object[] tenants = aggregates.stream().map(Aggregate::tenant).toArray();
        statement.setArray(from, connection.createArrayOf("text", ids));
        statement.setArray(from + 1, connection.createArrayOf("text", types));
        statement.setArray(from + 2, connection.createArrayOf("text", tenants));
    }

    private void write(Connection connection, String projection, Map<Aggregate, Long> changed)
            throws SQLException {
        String sql =
                "UPDATE %s.projection_version SET version = ?, updated_at = %s WHERE %s"
                        .formatted(schema, h2 ? "CURRENT_TIMESTAMP(6)" : "pg_catalog.now()", key());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (var each : changed.entrySet()) {
                statement.setLong(1, each.getValue());
                bindKey(statement, 2, projection, each.getKey());
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    private SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(schema.value());
        }
        return SqlState.withoutDetail(e);
    }
}
