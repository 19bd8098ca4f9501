package io.onlyonce.command;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** What the server says about its sessions, asked on a connection that takes part in nothing. */
final class Backends {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final Connection connection;

    Backends(Connection connection) {
        this.connection = connection;
    }

    /**
     * True if the statement of this session waits for a lock that one of these sessions has or
     * waits for. The lock table is asked: a lock is granted there before whoever gave it up gets
     * its answer, while the wait event stays until the waiter itself has woken up.
     */
    boolean isHeldUp(int pid, Integer[] by) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_blocking_pids(?) && ?")) {
            statement.setInt(1, pid);
            statement.setArray(2, connection.createArrayOf("integer", by));
            return isTrue(statement);
        }
    }

    /** Ends the session from outside; returns once the server has let go of all that it held. */
    void kill(int pid) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT pg_terminate_backend(?)")) {
            statement.setInt(1, pid);
            if (!isTrue(statement)) {
                throw new AssertionError("no session " + pid + " to end");
            }
        }
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!isGone(pid)) { // each question is a pause of its own
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("session " + pid + " was ended and is still there");
            }
        }
    }

    private boolean isGone(int pid) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(
                        "SELECT NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = ?)")) {
            statement.setInt(1, pid);
            return isTrue(statement);
        }
    }

    private static boolean isTrue(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getBoolean(1);
        }
    }
}
