package io.onlyonce.command;

import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.H2;
import io.onlyonce.sql.SqlState;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionEndedByWorkException;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;

/** Rows of {@code command_dedup}: the claim, the finish, and what operators ask; per database. */
abstract sealed class CommandStore permits PostgresCommands, H2Commands {

    /** Undoes a rejected work, and nothing before it. */
    static final String UNDO = "ROLLBACK TO SAVEPOINT onlyonce_work";

    static final String SAVEPOINT = "SAVEPOINT onlyonce_work";

    /** How the high road claims: what follows from the options of one run. */
    record Plan(Isolation isolation, boolean savepoint, @Nullable Duration block) {}

    static CommandStore of(CommandSetup setup) {
        return setup.database() instanceof H2
                ? new H2Commands(setup.schema(), setup.events())
                : new PostgresCommands(setup.schema(), setup.events());
    }

    /** High road: the claim as the transaction's first trip, with the settings before it. */
    abstract Seen open(Connection connection, String settings, NewRow row, Plan plan)
            throws SQLException;

    /**
     * High road: stores the end and the events, and commits, all in one trip or not at all. Returns
     * how many of the events were new.
     */
    abstract int finishAndCommit(Connection connection, Object mark, NewRow row, Finish finish)
            throws SQLException;

    /** What {@link #finishAndCommit} is to do. */
    record Finish(Plan plan, boolean undo, Final end, List<OutboxEvent> events) {}

    /** Low road: the claim inside a transaction of the caller's own. */
    abstract Seen claim(Connection connection, NewRow row) throws SQLException;

    /** Low road: the end, without a commit. */
    abstract void finish(Connection connection, Object mark, NewRow row, Final end)
            throws SQLException;

    /** Removes a row that is to be treated as absent; the lock is held. */
    final void remove(Connection connection, NewRow row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(remove())) {
            bindKey(statement, 1, row.command().scope(), row.command().id());
            statement.executeUpdate();
        }
    }

    abstract String remove();

    /** High road: claims anew after removing a row that is to be treated as absent. */
    final Seen reopen(Connection connection, NewRow row, Plan plan, Seen seen) throws SQLException {
        remove(connection, row);
        Seen again = claimAfterRemoval(connection, row, plan, seen);
        if (plan.savepoint()) { // the first one would undo the removal too
            execute(connection, SAVEPOINT);
        }
        return again;
    }

    abstract Seen claimAfterRemoval(Connection connection, NewRow row, Plan plan, Seen seen)
            throws SQLException;

    /** Undoes the work. */
    final void undo(Connection connection) throws SQLException {
        try {
            execute(connection, UNDO);
        } catch (SQLException e) {
            if (SqlState.isSavepointGone(e)) {
                throw new TransactionEndedByWorkException();
            }
            throw e;
        }
    }

    static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Reads the row without claiming anything. */
    final Optional<StoredRow> read(Connection connection, CommandScope scope, String id)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(select())) {
            bindKey(statement, 1, scope, id);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next() ? Optional.of(stored(rows)) : Optional.empty();
            }
        }
    }

    abstract String select();

    /** Takes the command's lock until the transaction ends; false if somebody else has it. */
    abstract boolean tryLock(Connection connection, long lockKey, boolean shared)
            throws SQLException;

    /** The row for people, without its result. */
    abstract Optional<CommandInfo> info(Connection connection, CommandScope scope, String id)
            throws SQLException;

    /** Settles a committed STARTED row, whose lock is held; false if there is none. */
    abstract boolean resolve(
            Connection connection, CommandScope scope, String id, Resolution.Settled settled)
            throws SQLException;

    static int bindKey(PreparedStatement statement, int from, CommandScope scope, String id)
            throws SQLException {
        int i = from;
        statement.setString(i++, id);
        statement.setString(i++, scope.operation());
        statement.setString(i++, scope.caller());
        statement.setString(i++, scope.tenant());
        return i;
    }

    static StoredRow stored(ResultSet row) throws SQLException {
        return new StoredRow(
                row.getInt("status"),
                row.getInt("hash_version"),
                row.getBytes("payload_hash"),
                row.getString("content_tag"),
                row.getString("key_id"),
                row.getBytes("result"),
                row.getString("rejection_code"),
                row.getObject("started_at", OffsetDateTime.class),
                row.getBoolean("own"),
                row.getBoolean("expired"),
                row.getBoolean("forgotten"));
    }
}
