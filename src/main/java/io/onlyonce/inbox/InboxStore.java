package io.onlyonce.inbox;

import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.H2;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** Rows of {@code inbox_message}: the claim of many at once, and the finish; per database. */
abstract sealed class InboxStore permits PostgresInbox, H2Inbox {

    private static final String KEY =
            "message_id = ? AND source = ? AND consumer = ? AND tenant = ?";

    private final String mark;
    private final String settle;
    private final String release;

    InboxStore(CommandSetup setup, String now, String clock) {
        String started = " WHERE " + KEY + " AND status = 0 AND received_at ";
        String processed =
                "UPDATE %s.inbox_message SET status = 1, processed_at = %s"
                        .formatted(setup.schema(), clock);
        mark = processed + started + "= " + now;
        settle = processed + started + "<> " + now;
        release = "DELETE FROM %s.inbox_message".formatted(setup.schema()) + started + "<> " + now;
    }

    static InboxStore of(CommandSetup setup) {
        return setup.database() instanceof H2 ? new H2Inbox(setup) : new PostgresInbox(setup);
    }

    /**
     * High road: claims all of them as the transaction's first trip, with the settings before it.
     * The rows are stored as processed at once, because only the finish can make them durable.
     */
    abstract Opened open(Connection connection, String settings, List<InboxRow> rows)
            throws SQLException;

    /** What the first trip found, in the order of the rows. */
    record Opened(Object mark, List<InboxSeen> seen) {}

    /**
     * High road: proves the transaction, stores the events by tenant and commits, in one trip.
     * Returns how many of the events were new.
     */
    abstract int finishAndCommit(
            Connection connection, Object mark, Map<String, List<OutboxEvent>> events)
            throws SQLException;

    /** Low road: the claim inside a transaction of the caller's own. */
    abstract InboxSeen claim(Connection connection, InboxRow row) throws SQLException;

    abstract boolean tryLock(Connection connection, long lockKey) throws SQLException;

    /** Low road: false if this transaction does not hold the claim. */
    final boolean markProcessed(Connection connection, InboxRow row) throws SQLException {
        return update(connection, mark, row);
    }

    /** Settles a committed claim that nobody finished, whose lock is held; false if none. */
    final boolean settle(Connection connection, InboxRow row, boolean processed)
            throws SQLException {
        return update(connection, processed ? settle : release, row);
    }

    private static boolean update(Connection connection, String sql, InboxRow row)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bindKey(statement, 1, row);
            return statement.executeUpdate() == 1;
        }
    }

    static void bindKey(PreparedStatement statement, int from, InboxRow row) throws SQLException {
        statement.setString(from, row.message().id());
        statement.setString(from + 1, row.message().source());
        statement.setString(from + 2, row.consumer());
        statement.setString(from + 3, row.message().tenant());
    }
}
