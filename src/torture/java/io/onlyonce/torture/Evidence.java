package io.onlyonce.torture;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

/** What is left of one history: what its clients wrote down, and what the database holds. */
record Evidence(String tenant, List<HistoryFile.Line> lines, Map<String, List<Row>> rows) {

    /** A row by column name. */
    record Row(Map<String, String> values) {

        String get(String column) {
            return values.get(column);
        }

        long number(String column) {
            return Long.parseLong(values.get(column));
        }
    }

    /** Every table of which the checker looks at a tenant's rows; the only SQL it has. */
    private static final Map<String, String> TABLES = new LinkedHashMap<>();

    static {
        TABLES.put("account", "SELECT * FROM account WHERE tenant = ANY (?)");
        TABLES.put(
                "effect",
                "SELECT tenant, command_id, attempt, account, delta, version, micros(at) AS at FROM"
                        + " effect WHERE tenant = ANY (?)");
        TABLES.put("refused", "SELECT * FROM refused WHERE tenant = ANY (?)");
        TABLES.put("projection", "SELECT * FROM projection WHERE tenant = ANY (?)");
        TABLES.put("seen", "SELECT * FROM seen WHERE tenant = ANY (?)");
        TABLES.put("broker", "SELECT * FROM broker WHERE tenant = ANY (?) ORDER BY pos");
        TABLES.put(
                "command",
                """
                SELECT tenant, command_id, status, rejection_code, convert_from(result, 'UTF8') AS result,
                    micros(started_at) AS started_at, micros(finished_at) AS finished_at, micros(expires_at) AS expires_at,
                    micros(forget_at) AS forget_at, micros(gone_at) AS gone_at, gone_by
                FROM (SELECT *, timestamptz 'infinity' AS gone_at, '' AS gone_by FROM onlyonce.command_dedup
                    UNION ALL SELECT * FROM gone_command) d WHERE tenant = ANY (?)\
                """);
        TABLES.put(
                "event",
                """
                SELECT tenant, event_key, event_id, aggregate_id, aggregate_version, state, attempts, command_id,
                    micros(settled_at) AS settled_at, micros(gone_at) AS gone_at, gone_by
                FROM (SELECT *, timestamptz 'infinity' AS gone_at, '' AS gone_by FROM onlyonce.outbox_event
                    UNION ALL SELECT * FROM gone_event) e WHERE tenant = ANY (?)\
                """);
        TABLES.put("blocked", "SELECT * FROM onlyonce.outbox_blocked WHERE tenant = ANY (?)");
        TABLES.put(
                "message",
                """
                SELECT tenant, message_id, status, micros(processed_at) AS processed_at, micros(gone_at) AS gone_at, gone_by
                FROM (SELECT *, timestamptz 'infinity' AS gone_at, '' AS gone_by FROM onlyonce.inbox_message
                    UNION ALL SELECT * FROM gone_message) m WHERE tenant = ANY (?)\
                """);
        TABLES.put(
                "followed",
                "SELECT tenant, aggregate_id, version FROM onlyonce.projection_version WHERE tenant"
                        + " = ANY (?)");
    }

    List<Row> table(String name) {
        return rows.getOrDefault(name, List.of());
    }

    List<HistoryFile.Line> lines(String what) {
        return lines.stream().filter(line -> line.what().equals(what)).toList();
    }

    static List<Evidence> collect(Path folder, DataSource database, List<String> tenants)
            throws IOException, SQLException {
        Map<String, Evidence> all = new LinkedHashMap<>();
        tenants.forEach(
                tenant ->
                        all.put(tenant, new Evidence(tenant, new ArrayList<>(), new HashMap<>())));
        for (int client = 0; client < Plan.CLIENTS; client++) {
            for (HistoryFile.Line line : HistoryFile.read(HistoryFile.of(folder, client))) {
                if (all.containsKey(line.tenant())) {
                    all.get(line.tenant()).lines().add(line);
                } else { // a client's own complaint concerns all of them
                    all.values().iterator().next().lines().add(line);
                }
            }
        }
        try (Connection connection = database.getConnection()) {
            for (var table : TABLES.entrySet()) {
                try (var statement = connection.prepareStatement(table.getValue())) {
                    statement.setArray(1, connection.createArrayOf("text", tenants.toArray()));
                    try (ResultSet found = statement.executeQuery()) {
                        while (found.next()) {
                            Row row = row(found);
                            all.get(row.get("tenant"))
                                    .rows()
                                    .computeIfAbsent(table.getKey(), name -> new ArrayList<>())
                                    .add(row);
                        }
                    }
                }
            }
        }
        return List.copyOf(all.values());
    }

    private static Row row(ResultSet found) throws SQLException {
        Map<String, String> values = new LinkedHashMap<>();
        for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
            String value =
                    found.getMetaData().getColumnTypeName(i).equals("bytea")
                            ? new String(found.getBytes(i), StandardCharsets.UTF_8)
                            : found.getString(i);
            values.put(found.getMetaData().getColumnName(i), value);
        }
        return new Row(values);
    }
}
