package io.onlyonce.inbox;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.H2;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Rows of {@code projection_version}; per database. A new aggregate is stored as one that is about
 * to begin, so that there is always a row to wait for.
 */
abstract sealed class VersionStore permits PostgresVersions, H2Versions {

    private static final String KEY =
            "aggregate_id = ? AND aggregate_type = ? AND tenant = ? AND projection = ?";

    private final SchemaName schema;
    private final String set;
    private final String select;

    VersionStore(SchemaName schema, String now) {
        this.schema = schema;
        set =
                "UPDATE %s.projection_version SET version = ?, updated_at = %s WHERE %s"
                        .formatted(schema, now, KEY);
        select = "SELECT version FROM %s.projection_version WHERE %s".formatted(schema, KEY);
    }

    static VersionStore of(CommandSetup setup) {
        return setup.database() instanceof H2
                ? new H2Versions(setup.schema())
                : new PostgresVersions(setup.schema());
    }

    /** What has versions. */
    record Aggregate(String tenant, String type, String id) {
        static Aggregate of(VersionGuard.Step step) {
            return new Aggregate(step.tenant(), step.aggregateType(), step.aggregateId());
        }
    }

    /** What a projection's versions have to do. */
    record Rule(String projection, boolean strict, long first) {}

    /**
     * What came of a version.
     *
     * @param version the one that is stored now
     */
    record Followed(boolean applied, long version) {}

    /**
     * Stores the version if it is next. Another transaction may commit between the attempt and the
     * look at what is stored, so the version seen may be one that this step follows after all.
     */
    abstract Followed follow(Connection connection, Rule rule, VersionGuard.Step step)
            throws SQLException;

    /** Locks all of them, always in the same order, so that no two wait for each other. */
    abstract Map<Aggregate, Long> lock(Connection connection, Rule rule, List<Aggregate> aggregates)
            throws SQLException;

    /** Stores versions of aggregates that are locked. */
    final void write(Connection connection, String projection, Map<Aggregate, Long> versions)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(set)) {
            for (var each : versions.entrySet()) {
                statement.setLong(1, each.getValue());
                bindKey(statement, 2, projection, each.getKey());
                statement.addBatch();
            }
            if (Arrays.stream(statement.executeBatch()).anyMatch(count -> count == 0)) {
                throw resetMeanwhile();
            }
        }
    }

    final int forget(Connection connection, String projection) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "DELETE FROM %s.projection_version WHERE projection = ?"
                                .formatted(schema))) {
            statement.setString(1, projection);
            return statement.executeUpdate();
        }
    }

    final boolean forget(Connection connection, String projection, Aggregate aggregate)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "DELETE FROM %s.projection_version WHERE %s".formatted(schema, KEY))) {
            bindKey(statement, 1, projection, aggregate);
            return statement.executeUpdate() == 1;
        }
    }

    /** Binds the version, the key, and the version again. */
    final String setIfNext(Rule rule) {
        return set + " AND version " + (rule.strict() ? "= CAST(? AS bigint) - 1" : "< ?");
    }

    final String select() {
        return select;
    }

    static long version(ResultSet row) throws SQLException {
        if (!row.next()) {
            throw resetMeanwhile();
        }
        return row.getLong("version");
    }

    /** Whoever builds the projection anew was at it: nothing that was read holds any more. */
    static SQLException resetMeanwhile() {
        return new SQLException("the projection was reset", SqlState.SERIALIZATION_FAILURE);
    }

    static void bindKey(
            PreparedStatement statement, int from, String projection, Aggregate aggregate)
            throws SQLException {
        statement.setString(from, aggregate.id());
        statement.setString(from + 1, aggregate.type());
        statement.setString(from + 2, aggregate.tenant());
        statement.setString(from + 3, projection);
    }

    final SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(schema.value());
        }
        return SqlState.withoutDetail(e);
    }
}
