package io.onlyonce.observe;

import io.onlyonce.command.CommandScope;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.RelaySetup;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Answers from the database what operators ask. Every answer is one query that an index carries, so
 * that it may be asked on tables of any size; numbers of rows are counted up to {@link #COUNTED}.
 *
 * <p>It reads only, on a connection of the caller's, in autocommit mode or not. Replays, mismatches
 * and duplicates of messages leave no row, so nothing here can tell of them.
 *
 * <p>Dead letters are listed, requeued and discarded by {@code once.deadLetters()}; what is due to
 * be removed besides commands is told by {@code once.retention(…).preview()}.
 */
public final class Inspector {

    /** A count that is as large as this means "so many or more". */
    public static final long COUNTED = 10_000;

    private final InspectorSql sql;

    private Inspector(InspectorSql sql) {
        this.sql = sql;
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a RelaySetup
    public static Inspector of(RelaySetup setup) {
        return new Inspector(
                new InspectorSql(setup.schema(), setup.database() instanceof PostgreSql));
    }

    /**
     * A command whose claim was committed without a completion; {@code CommandDedup.resolve}
     * settles it.
     */
    public record UnresolvedCommand(
            CommandScope scope,
            String id,
            Instant startedAt,
            Optional<String> resourceType,
            Optional<String> resourceId) {}

    /** The oldest of the commands that somebody must look into, at most so many. */
    public List<UnresolvedCommand> unresolvedCommands(Connection connection, int limit)
            throws SQLException {
        return list(
                connection,
                sql.unresolvedCommands(),
                limit,
                row ->
                        new UnresolvedCommand(
                                new CommandScope(
                                        row.getString("tenant"),
                                        row.getString("caller"),
                                        row.getString("operation")),
                                row.getString("command_id"),
                                time(row, "started_at").orElseThrow(),
                                Optional.ofNullable(row.getString("resource_type")),
                                Optional.ofNullable(row.getString("resource_id"))));
    }

    /** A message that a consumer's own transaction claimed and committed without a completion. */
    public record UnfinishedMessage(
            String tenant, String consumer, String source, String id, Instant receivedAt) {}

    /** The oldest of the messages that somebody must look into, at most so many. */
    public List<UnfinishedMessage> unfinishedMessages(Connection connection, int limit)
            throws SQLException {
        return list(
                connection,
                sql.unfinishedMessages(),
                limit,
                row ->
                        new UnfinishedMessage(
                                row.getString("tenant"),
                                row.getString("consumer"),
                                row.getString("source"),
                                row.getString("message_id"),
                                time(row, "received_at").orElseThrow()));
    }

    /**
     * Rows of one kind.
     *
     * @param rows counted up to {@link #COUNTED}
     * @param since the time of the oldest
     */
    public record Overview(long rows, Optional<Instant> since) {}

    /** Unresolved commands, and the start of the oldest. */
    public Overview unresolved(Connection connection) throws SQLException {
        return overview(connection, sql.unresolved());
    }

    /** Commands that may be forgotten and are still there, and since when the oldest may. */
    public Overview overdue(Connection connection) throws SQLException {
        return overview(connection, sql.overdue());
    }

    /** Events that are ready to be published, and when the oldest was appended. */
    public Overview backlog(Connection connection) throws SQLException {
        return overview(connection, sql.backlog());
    }

    /** Events that were given up, and when the oldest was appended. */
    public Overview deadLetters(Connection connection) throws SQLException {
        return overview(connection, sql.deadLetters());
    }

    /**
     * An aggregate whose events wait behind one that failed.
     *
     * @param until when it is tried again; empty behind a dead letter
     * @param waiting its events, counted up to {@link #COUNTED}
     */
    public record BlockedAggregate(
            String tenant,
            String type,
            String id,
            Instant since,
            Optional<Instant> until,
            long waiting) {}

    /** Aggregates that wait, in the order of their ids, at most so many. */
    public List<BlockedAggregate> blocked(Connection connection, int limit) throws SQLException {
        return list(
                connection,
                sql.blocked(),
                limit,
                row ->
                        new BlockedAggregate(
                                row.getString("tenant"),
                                row.getString("aggregate_type"),
                                row.getString("aggregate_id"),
                                time(row, "blocked_at").orElseThrow(),
                                time(row, "until"),
                                row.getLong("waiting")));
    }

    /** How many new ids a caller has used. */
    public record CallerCount(String tenant, String caller, long commands) {}

    /**
     * Who has used the most new ids in the last such while. Reads all rows of that while: minutes
     * or hours, not months.
     */
    public List<CallerCount> newIds(Connection connection, Duration window, int limit)
            throws SQLException {
        if (window.isNegative() || window.isZero() || window.compareTo(Duration.ofDays(366)) > 0) {
            throw new IllegalArgumentException(
                    "The window must be longer than 0 and at most a year.");
        }
        return list(
                connection,
                sql.newIds(),
                window.toNanos() / 1_000,
                limit,
                row ->
                        new CallerCount(
                                row.getString("tenant"),
                                row.getString("caller"),
                                row.getLong("commands")));
    }

    /**
     * A table and what it takes.
     *
     * @param rows what the planner believes
     * @param bytes the table with its large values
     * @param indexBytes its indexes
     */
    public record TableSize(String table, long rows, long bytes, long indexBytes) {}

    /** The tables of the schema, the largest first. */
    public List<TableSize> sizes(Connection connection) throws SQLException {
        return list(
                connection,
                sql.sizes(),
                100,
                row ->
                        new TableSize(
                                row.getString("table_name"),
                                row.getLong("row_estimate"),
                                row.getLong("table_bytes"),
                                row.getLong("index_bytes")));
    }

    /**
     * What holds claims at this moment, seen by the server: nothing of it can be told by id.
     *
     * @param locks claims of commands and messages; advisory locks of your own count too
     * @param transactions the transactions that hold them
     * @param idle how many of these transactions wait for their client
     * @param since when the oldest of them began
     */
    public record InFlight(long locks, long transactions, long idle, Optional<Instant> since) {}

    /** Empty on H2, which has no such view. Of others' sessions a role sees what it may. */
    public Optional<InFlight> inFlight(Connection connection) throws SQLException {
        return list(
                        connection,
                        sql.inFlight(),
                        1,
                        row ->
                                new InFlight(
                                        row.getLong("locks"),
                                        row.getLong("transactions"),
                                        row.getLong("idle"),
                                        time(row, "since")))
                .stream()
                .findFirst();
    }

    private Overview overview(Connection connection, String query) throws SQLException {
        return list(
                        connection,
                        query,
                        COUNTED,
                        row -> new Overview(row.getLong("counted"), time(row, "since")))
                .get(0);
    }

    private interface Reader<T> {
        T read(ResultSet row) throws SQLException;
    }

    private static <T> List<T> list(
            Connection connection, String query, long limit, Reader<T> reader) throws SQLException {
        return list(connection, query, null, limit, reader);
    }

    private static <T> List<T> list(
            Connection connection, String query, @Nullable Long first, long limit, Reader<T> reader)
            throws SQLException {
        if (limit < 1) {
            throw new IllegalArgumentException("The limit must be at least 1.");
        }
        List<T> found = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            if (first != null) {
                statement.setLong(1, first);
            }
            statement.setLong(first == null ? 1 : 2, limit);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.add(reader.read(row));
                }
            }
        }
        return found;
    }

    private static Optional<Instant> time(ResultSet row, String column) throws SQLException {
        @Nullable OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? Optional.empty() : Optional.of(time.toInstant());
    }
}
