package io.onlyonce.retention;

import io.onlyonce.sql.Database;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * One rule, a chunk at a time. First the chunk's range of times is looked for, which may take long
 * where many rows have gone before, and locks nothing; then the rows are taken, which is short.
 */
abstract sealed class Step permits PostgresStep, H2Step {

    static final String ARCHIVED =
            "started_at, finished_at, expires_at, forget_at, payload_schema, status, hash_version,"
                    + " command_id, operation, caller, tenant, payload_hash, content_tag, key_id,"
                    + " rejection_code, resource_type, resource_id, resolved_by, resolved_why,"
                    + " result";

    /** The first and the last time of a chunk's rows. */
    record Range(OffsetDateTime first, OffsetDateTime last) {}

    /** How many rows a chunk took, and how many of them were copied to the archive. */
    record Taken(long rows, long copied) {}

    private final Rule rule;
    private final String range;
    private final String count;
    private final String oldest;

    Step(Rule rule, SchemaName schema, String cutOff) {
        this.rule = rule;
        range =
                """
                SELECT min(%1$s) AS first_time, max(%1$s) AS last_time FROM (
                    SELECT %1$s FROM %2$s.%3$s WHERE %4$s AND %1$s >= ? AND %1$s <= %5$s ORDER BY %1$s LIMIT ?) d\
                """
                        .formatted(rule.time(), schema, rule.table(), condition(rule), cutOff);
        count =
                """
                SELECT count(*) AS due_rows FROM (SELECT 1 FROM %2$s.%3$s WHERE %4$s AND %1$s <= %5$s LIMIT ?) d\
                """
                        .formatted(rule.time(), schema, rule.table(), condition(rule), cutOff);
        oldest =
                """
                SELECT min(%1$s) AS first_time, %5$s AS cut_off FROM (
                    SELECT %1$s FROM %2$s.%3$s WHERE %4$s AND %1$s <= %5$s ORDER BY %1$s LIMIT 1) d\
                """
                        .formatted(rule.time(), schema, rule.table(), condition(rule), cutOff);
    }

    static Step of(Rule rule, RetentionOptions options, Database database, SchemaName schema) {
        return database instanceof PostgreSql
                ? new PostgresStep(rule, options, schema)
                : new H2Step(rule, options, schema);
    }

    final Rule rule() {
        return rule;
    }

    /** Without locks: the next rows that are due, so many of them, from this time on. */
    final Optional<Range> next(Connection connection, @Nullable OffsetDateTime from, int size)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(range)) {
            int i = bindOperation(statement, 1);
            statement.setObject(i++, from == null ? beginning() : from);
            statement.setLong(i++, micros());
            statement.setInt(i, size);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                OffsetDateTime first = row.getObject("first_time", OffsetDateTime.class);
                OffsetDateTime last = row.getObject("last_time", OffsetDateTime.class);
                return first == null ? Optional.empty() : Optional.of(new Range(first, last));
            }
        }
    }

    /** How long the first row that is due could have been gone; zero if none is due. */
    final Duration lag(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(oldest)) {
            statement.setLong(1, micros());
            statement.setLong(bindOperation(statement, 2), micros());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                OffsetDateTime first = row.getObject("first_time", OffsetDateTime.class);
                return first == null
                        ? Duration.ZERO
                        : Duration.between(first, row.getObject("cut_off", OffsetDateTime.class));
            }
        }
    }

    /** How many rows are due, counted up to the limit. */
    final long due(Connection connection, long limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(count)) {
            int i = bindOperation(statement, 1);
            statement.setLong(i++, micros());
            statement.setLong(i, limit);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong("due_rows");
            }
        }
    }

    /** Takes what nobody else has in hand of the rows in this range, at most so many. */
    abstract Taken take(Connection connection, Range range, int size) throws SQLException;

    /** Bounds the next statement on the server. */
    abstract void limit(Connection connection, long millis) throws SQLException;

    /** True if this transaction may work now: one runner at a time, in all processes. */
    abstract boolean tryLock(Connection connection, long key) throws SQLException;

    abstract OffsetDateTime beginning();

    static String condition(Rule rule) {
        return rule.due() + (rule.operation().isPresent() ? " AND operation = ?" : "");
    }

    final int bindOperation(PreparedStatement statement, int from) throws SQLException {
        if (rule.operation().isEmpty()) {
            return from;
        }
        statement.setString(from, rule.operation().get());
        return from + 1;
    }

    private long micros() {
        return rule.kept().toNanos() / 1_000;
    }
}
