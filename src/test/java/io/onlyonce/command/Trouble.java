package io.onlyonce.command;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** Real database errors, of the kind that another attempt may not meet, and of the other kind. */
enum Trouble {
    STATEMENT_TIMEOUT("57014"),
    LOCK_TIMEOUT("55P03"),
    DEADLOCK("40P01"),
    LOST_CONNECTION("57P01"),
    UNIQUE_VIOLATION("23505"),
    RAISED_BY_A_PROCEDURE("P0001");

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private static final String WAITING =
            """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock' AND query LIKE '%first%'\
            """;

    final String state;

    Trouble(String state) {
        this.state = state;
    }

    boolean isAboutTheInput() {
        return this == UNIQUE_VIOLATION || this == RAISED_BY_A_PROCEDURE;
    }

    /** The accounts that {@link #meet} fights for. */
    static void prepare(TestDatabase db) throws SQLException {
        db.execute(
                "INSERT INTO account VALUES ('a', 0), ('locked', 0), ('first', 0), ('second', 0)");
    }

    /** Meets the error on this connection, always. */
    SQLException meet(Connection connection, TestDatabase db) throws Exception {
        try {
            switch (this) {
                case STATEMENT_TIMEOUT ->
                        execute(connection, "SET LOCAL statement_timeout = 20; SELECT pg_sleep(9)");
                case LOCK_TIMEOUT -> meetLock(connection, db);
                case DEADLOCK -> meetDeadlock(connection, db);
                case LOST_CONNECTION ->
                        execute(connection, "SELECT pg_terminate_backend(pg_backend_pid())");
                case UNIQUE_VIOLATION ->
                        execute(connection, "INSERT INTO account VALUES ('locked', 0)");
                case RAISED_BY_A_PROCEDURE ->
                        execute(connection, "DO $$ BEGIN RAISE EXCEPTION 'limit reached'; END $$");
            }
        } catch (SQLException e) {
            if (state.equals(e.getSQLState())) {
                return e;
            }
            throw new AssertionError("another error than " + state, e);
        }
        throw new AssertionError("no error " + state);
    }

    private static void meetLock(Connection connection, TestDatabase db) throws SQLException {
        try (Connection holder = db.connect()) {
            holder.setAutoCommit(false);
            execute(holder, "SET LOCAL lock_timeout = '10s'; " + touch("locked"));
            execute(connection, "SET LOCAL lock_timeout = 20; " + touch("locked"));
        }
    }

    /** The rival waits patiently, so that this connection is the one that is chosen. */
    private static void meetDeadlock(Connection connection, TestDatabase db) throws Exception {
        execute(connection, "SET LOCAL deadlock_timeout = 1; " + touch("first"));
        ProxiedBank.async( // it ends as soon as the work is undone
                () -> {
                    try (Connection other = db.connect()) {
                        other.setAutoCommit(false);
                        execute(
                                other,
                                "SET LOCAL deadlock_timeout = '60s'; SET LOCAL lock_timeout ="
                                        + " '10s'");
                        execute(other, touch("second"));
                        execute(other, touch("first"));
                        return null;
                    }
                });
        Await.until(DEADLINE, () -> db.count(WAITING) == 1, "the rival waited for the first lock");
        execute(connection, touch("second"));
    }

    private static String touch(String account) {
        return "UPDATE account SET balance = balance WHERE id = '" + account + "'";
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
