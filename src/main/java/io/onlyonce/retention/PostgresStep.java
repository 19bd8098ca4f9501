package io.onlyonce.retention;

import io.onlyonce.sql.SchemaName;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;

/**
 * One statement takes a chunk: rows that others hold are skipped, so it never waits for anybody.
 */
final class PostgresStep extends Step {

    private static final String LOCK = "SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held";

    private final String take;
    private final String[] archived;

    PostgresStep(Rule rule, RetentionOptions options, SchemaName schema) {
        super(rule, schema, "pg_catalog.now() - ? * interval '1 microsecond'");
        String table = schema + "." + rule.table();
        boolean archives =
                rule.kind() == Rule.Kind.COMMANDS
                        && (options.archivesAll() || !options.archived().isEmpty());
        boolean some = archives && !options.archivesAll();
        archived = some ? options.archived().toArray(String[]::new) : new String[0];
        String copied =
                """
                , copied AS (
                    INSERT INTO %1$s.command_archive (%2$s) SELECT %2$s FROM gone%3$s RETURNING 1)\
                """
                        .formatted(schema, ARCHIVED, some ? " WHERE operation = ANY (?)" : "");
        take =
                """
                WITH due AS (
                    SELECT ctid AS place FROM %1$s WHERE %2$s AND %3$s >= ? AND %3$s <= ?
                    ORDER BY %3$s LIMIT ? FOR UPDATE SKIP LOCKED),
                gone AS (%4$s WHERE ctid = ANY (ARRAY(SELECT place FROM due)) RETURNING *)%5$s
                SELECT (SELECT count(*) FROM gone) AS taken, %6$s AS copied\
                """
                        .formatted(
                                table,
                                condition(rule),
                                rule.time(),
                                rule.set()
                                        .map(set -> "UPDATE " + table + " SET " + set)
                                        .orElse("DELETE FROM " + table),
                                archives ? copied : "",
                                archives ? "(SELECT count(*) FROM copied)" : "0");
    }

    @Override
    Taken take(Connection connection, Range range, int size) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(take)) {
            int i = bindOperation(statement, 1);
            statement.setObject(i++, range.first());
            statement.setObject(i++, range.last());
            statement.setInt(i++, size);
            if (archived.length > 0) {
                statement.setArray(i, connection.createArrayOf("text", archived));
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return new Taken(row.getLong("taken"), row.getLong("copied"));
            }
        }
    }

    @Override
    void limit(Connection connection, long millis) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL statement_timeout = " + millis);
        }
    }

    @Override
    boolean tryLock(Connection connection, long key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK)) {
            statement.setLong(1, key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean("held");
            }
        }
    }

    /** The driver's way to say '-infinity'. */
    @Override
    OffsetDateTime beginning() {
        return OffsetDateTime.MIN;
    }
}
