package io.onlyonce.retention;

import io.onlyonce.sql.H2;
import io.onlyonce.sql.SchemaName;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The same, row by row, in one transaction. */
final class H2Step extends Step {

    private static final OffsetDateTime BEGINNING =
            OffsetDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);

    private final SchemaName schema;
    private final RetentionOptions options;
    private final String select;
    private final String change;
    private final String copy;
    private final int columns;

    H2Step(Rule rule, RetentionOptions options, SchemaName schema) {
        super(rule, schema, "DATEADD(MICROSECOND, -CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))");
        this.schema = schema;
        this.options = options;
        String table = schema + "." + rule.table();
        String[] key = rule.key().split(", ");
        columns = key.length;
        String row = Arrays.stream(key).map(k -> k + " = ?").collect(Collectors.joining(" AND "));
        select =
                """
                SELECT %1$s FROM %2$s WHERE %3$s AND %4$s >= ? AND %4$s <= ? ORDER BY %4$s LIMIT ?
                FOR UPDATE SKIP LOCKED\
                """
                        .formatted(rule.key(), table, condition(rule), rule.time());
        change =
                rule.set()
                                .map(set -> "UPDATE " + table + " SET " + set)
                                .orElse("DELETE FROM " + table)
                        + " WHERE "
                        + row;
        copy =
                "INSERT INTO %1$s.command_archive (%2$s) SELECT %2$s FROM %1$s.command_dedup WHERE %3$s"
                        .formatted(schema, ARCHIVED, row);
    }

    @Override
    Taken take(Connection connection, Range range, int size) throws SQLException {
        List<Object[]> rows = lock(connection, range, size);
        List<Object[]> copied = rows.stream().filter(this::isArchived).toList();
        forEach(connection, copy, copied);
        forEach(connection, change, rows);
        return new Taken(rows.size(), copied.size());
    }

    private boolean isArchived(Object[] key) {
        return rule().kind() == Rule.Kind.COMMANDS
                && (options.archivesAll() || options.archived().contains(key[1]));
    }

    private List<Object[]> lock(Connection connection, Range range, int size) throws SQLException {
        List<Object[]> rows = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(select)) {
            int i = bindOperation(statement, 1);
            statement.setObject(i++, range.first());
            statement.setObject(i++, range.last());
            statement.setInt(i, size);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    Object[] key = new Object[columns];
                    for (int column : IntStream.range(0, columns).toArray()) {
                        key[column] = row.getObject(column + 1);
                    }
                    rows.add(key);
                }
            }
        }
        return rows;
    }

    private static void forEach(Connection connection, String sql, List<Object[]> rows)
            throws SQLException {
        if (rows.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (Object[] key : rows) {
                for (int column = 0; column < key.length; column++) {
                    statement.setObject(column + 1, key[column]);
                }
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    /** Left out: in process, a chunk's size follows from the last chunk's time alone. */
    @Override
    void limit(Connection connection, long millis) {}

    @Override
    boolean tryLock(Connection connection, long key) throws SQLException {
        return H2.tryLock(connection, schema, key);
    }

    @Override
    OffsetDateTime beginning() {
        return BEGINNING;
    }
}
