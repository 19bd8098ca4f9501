package io.onlyonce.inbox;

import io.onlyonce.sql.SchemaName;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** One trip to follow a version; one to lock many. */
final class PostgresVersions extends VersionStore {

    private final String insert;
    private final String lock;

    PostgresVersions(SchemaName schema) {
        super(schema, "pg_catalog.now()");
        insert =
                """
                INSERT INTO %s.projection_version (version, aggregate_id, aggregate_type, tenant, projection)
                VALUES (?, ?, ?, ?, ?) ON CONFLICT (aggregate_id, aggregate_type, tenant, projection) DO NOTHING\
                """
                        .formatted(schema);
        lock =
                """
                INSERT INTO %1$s.projection_version (version, aggregate_id, aggregate_type, tenant, projection)
                SELECT DISTINCT ?::bigint, a.id COLLATE "C", a.type COLLATE "C", a.tenant COLLATE "C", ?
                FROM %2$s ORDER BY 2, 3, 4
                ON CONFLICT (aggregate_id, aggregate_type, tenant, projection) DO NOTHING;
                SELECT p.aggregate_id, p.aggregate_type, p.tenant, p.version FROM %1$s.projection_version p
                WHERE (p.aggregate_id, p.aggregate_type, p.tenant) IN (SELECT a.id, a.type, a.tenant FROM %2$s)
                    AND p.projection = ?
                ORDER BY p.aggregate_id, p.aggregate_type, p.tenant FOR UPDATE OF p\
                """
                        .formatted(
                                schema,
                                "unnest(?::text[], ?::text[], ?::text[]) AS a (id, type, tenant)");
    }

    /** Each statement sees what was committed before it, also while the one before it waited. */
    @Override
    Followed follow(Connection connection, Rule rule, VersionGuard.Step step) throws SQLException {
        String sql = insert + ";\n" + setIfNext(rule) + ";\n" + select();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            Aggregate aggregate = Aggregate.of(step);
            statement.setLong(1, rule.first() - 1);
            bindKey(statement, 2, rule.projection(), aggregate);
            statement.setLong(6, step.version());
            bindKey(statement, 7, rule.projection(), aggregate);
            statement.setLong(11, step.version());
            bindKey(statement, 12, rule.projection(), aggregate);
            statement.execute(); // the count of the INSERT says nothing
            statement.getMoreResults();
            boolean applied = statement.getUpdateCount() == 1;
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                return new Followed(applied, version(row));
            }
        }
    }

    @Override
    Map<Aggregate, Long> lock(Connection connection, Rule rule, List<Aggregate> aggregates)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lock)) {
            statement.setLong(1, rule.first() - 1);
            statement.setString(2, rule.projection());
            bindAll(statement, 3, aggregates);
            bindAll(statement, 6, aggregates);
            statement.setString(9, rule.projection());
            statement.execute();
            statement.getMoreResults();
            Map<Aggregate, Long> versions = new HashMap<>();
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
            if (!versions.keySet().containsAll(aggregates)) { // gone between the two statements
                throw resetMeanwhile();
            }
            return versions;
        }
    }

    private static void bindAll(PreparedStatement statement, int from, List<Aggregate> aggregates)
            throws SQLException {
        bindColumn(statement, from, aggregates, Aggregate::id);
        bindColumn(statement, from + 1, aggregates, Aggregate::type);
        bindColumn(statement, from + 2, aggregates, Aggregate::tenant);
    }

    private static void bindColumn(
            PreparedStatement statement,
            int index,
            List<Aggregate> aggregates,
            Function<Aggregate, String> column)
            throws SQLException {
        Object[] values = aggregates.stream().map(column).toArray();
        statement.setArray(index, statement.getConnection().createArrayOf("text", values));
    }
}
