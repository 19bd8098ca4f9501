package io.onlyonce.command;

import org.jspecify.annotations.Nullable;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * What became of a command, without its result. All but the state is empty where there is no row.
 *
 * @param expiresAt empty also for a command without expiry
 */
public record CommandInfo(
        State state,
        Optional<Instant> startedAt,
        Optional<Instant> finishedAt,
        Optional<Instant> expiresAt,
        Optional<String> rejectionCode,
        Optional<String> resourceType,
        Optional<String> resourceId,
        Optional<String> resolvedBy,
        Optional<String> resolvedWhy) {

    /** Where a command stands. */
    public enum State {
        /** Never seen, rolled back, or forgotten: the id is free. */
        NOT_FOUND,
        /** A transaction is running it, or has claimed it a moment ago. */
        IN_FLIGHT,
        /** Its claim was committed without a completion; see {@link CommandDedup#resolve}. */
        UNRESOLVED,
        /** Replayed until it expires. */
        COMPLETED,
        /** Its rejection is replayed until it expires. */
        REJECTED,
        /** Settled by an operator. */
        RESOLVED,
        /** No longer replayed. */
        EXPIRED
    }

    static final CommandInfo NOT_FOUND = without(State.NOT_FOUND);
    static final CommandInfo IN_FLIGHT = without(State.IN_FLIGHT);

    private static CommandInfo without(State state) {
        return new CommandInfo(
                state,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    static Optional<CommandInfo> read(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            return Optional.of(
                    new CommandInfo(
                            state(row),
                            time(row, "started_at"),
                            time(row, "finished_at"),
                            time(row, "expires_at"),
                            text(row, "rejection_code"),
                            text(row, "resource_type"),
                            text(row, "resource_id"),
                            text(row, "resolved_by"),
                            text(row, "resolved_why")));
        }
    }

    private static State state(ResultSet row) throws SQLException {
        int status = row.getInt("status");
        if (status == StoredRow.STARTED) {
            return row.getBoolean("own") ? State.IN_FLIGHT : State.UNRESOLVED;
        }
        if (row.getBoolean("expired")) {
            return State.EXPIRED;
        }
        return switch (status) {
            case StoredRow.REJECTED -> State.REJECTED;
            case StoredRow.RESOLVED -> State.RESOLVED;
            default -> State.COMPLETED;
        };
    }

    private static Optional<Instant> time(ResultSet row, String column) throws SQLException {
        @Nullable OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? Optional.empty() : Optional.of(time.toInstant());
    }

    private static Optional<String> text(ResultSet row, String column) throws SQLException {
        return Optional.ofNullable(row.getString(column));
    }
}
