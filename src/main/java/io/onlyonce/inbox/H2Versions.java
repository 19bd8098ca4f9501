package io.onlyonce.inbox;

import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The same in small steps, which cost no trips in process. */
final class H2Versions extends VersionStore {

    private static final Comparator<Aggregate> ORDER =
            Comparator.comparing(Aggregate::id)
                    .thenComparing(Aggregate::type)
                    .thenComparing(Aggregate::tenant);

    private final String merge;

    H2Versions(SchemaName schema) {
        super(schema, "CURRENT_TIMESTAMP(6)");
        merge =
                """
                MERGE INTO %s.projection_version p USING (VALUES (CAST(? AS BIGINT), CAST(? AS VARCHAR), CAST(? AS VARCHAR),
                    CAST(? AS VARCHAR), CAST(? AS VARCHAR))) v (version, aggregate_id, aggregate_type, tenant, projection)
                ON p.aggregate_id = v.aggregate_id AND p.aggregate_type = v.aggregate_type AND p.tenant = v.tenant
                    AND p.projection = v.projection
                WHEN NOT MATCHED THEN INSERT (version, aggregate_id, aggregate_type, tenant, projection)
                    VALUES (v.version, v.aggregate_id, v.aggregate_type, v.tenant, v.projection)\
                """
                        .formatted(schema);
    }

    @Override
    Followed follow(Connection connection, Rule rule, VersionGuard.Step step) throws SQLException {
        Aggregate aggregate = Aggregate.of(step);
        begin(connection, rule, aggregate);
        boolean applied;
        try (PreparedStatement statement = connection.prepareStatement(setIfNext(rule))) {
            statement.setLong(1, step.version());
            bindKey(statement, 2, rule.projection(), aggregate);
            statement.setLong(6, step.version());
            applied = statement.executeUpdate() == 1;
        }
        return new Followed(applied, read(connection, select(), rule, aggregate));
    }

    @Override
    Map<Aggregate, Long> lock(Connection connection, Rule rule, List<Aggregate> aggregates)
            throws SQLException {
        SortedMap<Aggregate, Long> versions = new TreeMap<>(ORDER);
        aggregates.forEach(aggregate -> versions.put(aggregate, rule.first() - 1));
        for (var each : versions.entrySet()) {
            begin(connection, rule, each.getKey());
            each.setValue(read(connection, select() + " FOR UPDATE", rule, each.getKey()));
        }
        return versions;
    }

    private void begin(Connection connection, Rule rule, Aggregate aggregate) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(merge)) {
            statement.setLong(1, rule.first() - 1);
            bindKey(statement, 2, rule.projection(), aggregate);
            statement.executeUpdate();
        } catch (SQLException e) {
            if (!SqlState.is(SqlState.UNIQUE_VIOLATION, e)) { // somebody else was faster
                throw e;
            }
        }
    }

    private static long read(Connection connection, String select, Rule rule, Aggregate aggregate)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(select)) {
            bindKey(statement, 1, rule.projection(), aggregate);
            try (ResultSet row = statement.executeQuery()) {
                return version(row);
            }
        }
    }
}
