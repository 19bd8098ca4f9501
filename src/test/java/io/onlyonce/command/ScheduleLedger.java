package io.onlyonce.command;

import java.sql.Connection;
import java.sql.SQLException;

/** What a schedule has left behind in the database. */
final class ScheduleLedger {

    /**
     * What is durable of one command.
     *
     * @param effects rows that its work wrote, into a table without any unique constraint
     * @param result of whom the stored result or rejection is; empty if there is none
     */
    record Entry(int effects, int events, ScheduleOracle.Stored stored, String result) {}

    private static final String READ =
            """
            SELECT (SELECT count(*) FROM audit WHERE command = c.id) AS effects,
                (SELECT count(*) FROM onlyonce.outbox_event WHERE event_key = 'deposited:' || c.id) AS events,
                coalesce(d.status, -1) AS status, convert_from(d.result, 'UTF8') AS result
            FROM (SELECT ?::text AS id) AS c LEFT JOIN onlyonce.command_dedup AS d ON d.command_id = c.id
            """;

    private final Connection connection;

    ScheduleLedger(Connection connection) {
        this.connection = connection;
    }

    Entry read(String id) throws SQLException {
        try (var statement = connection.prepareStatement(READ)) {
            statement.setString(1, id);
            try (var row = statement.executeQuery()) {
                row.next();
                String result = row.getString("result");
                return new Entry(
                        row.getInt("effects"),
                        row.getInt("events"),
                        ScheduleOracle.Stored.values()[row.getInt("status") + 1],
                        result == null ? "" : result);
            }
        }
    }
}
