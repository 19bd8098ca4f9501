package io.onlyonce.compare;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

/**
 * Looks for the id, works, and inserts it as completed: the control of the false aborts, because at
 * SERIALIZABLE a read of what is not there locks the neighbourhood. No event.
 */
record ReadFirst(DataSource pool) implements Variant {

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            if (!isKnown(connection, id)) {
                Business.post(connection, id, account);
                inside.run();
                insert(connection, id);
            }
            connection.commit();
        }
    }

    private static boolean isKnown(Connection connection, String id) throws SQLException {
        try (var select =
                connection.prepareStatement(
                        "SELECT 1 FROM onlyonce.command_dedup WHERE command_id = ? AND operation ="
                                + " ? AND caller = ? AND tenant = ?")) {
            Textbook.bindKey(select, 1, id);
            try (var row = select.executeQuery()) {
                return row.next();
            }
        }
    }

    private static void insert(Connection connection, String id) throws SQLException {
        try (var insert =
                connection.prepareStatement(
                        """
                        INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status,
                            hash_version, command_id, operation, caller, tenant, payload_hash)
                        VALUES (now(), clock_timestamp(), now() + interval '7 days', now() + interval '14 days', 1, 12,
                            ?, ?, ?, ?, ?)\
                        """)) {
            insert.setBytes(Textbook.bindKey(insert, 1, id), new byte[32]);
            insert.executeUpdate();
        }
    }
}
