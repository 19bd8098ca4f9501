package io.onlyonce.command;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.Names;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.SqlState;
import io.onlyonce.tx.TransactionRequiredException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;

/**
 * The low road: claim and completion inside a transaction that the caller owns, begins and ends.
 *
 * <p>{@link #tryStart}, then the work, then {@link #complete} or {@link #reject}, then the caller's
 * COMMIT. Rolled back, nothing is left. Committed without a completion, the command is unresolved:
 * every later claim is told so until {@link #resolve} settles it.
 *
 * <p>Thread-safe, as far as each connection is used by one thread at a time. No method commits,
 * rolls back or sets a timeout; errors of the statements here are thrown without the server's
 * detail text, which would quote ids.
 */
public final class CommandDedup {

    private static final Logger log = LoggerFactory.getLogger(CommandDedup.class);

    private final CommandStore store;
    private final Settings settings;
    private final Observer observer;

    CommandDedup(CommandStore store, Settings settings, Observer observer) {
        this.store = store;
        this.settings = settings;
        this.observer = observer;
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a CommandSetup
    public static CommandDedup of(CommandSetup setup) {
        return new CommandDedup(CommandStore.of(setup), Settings.of(setup), setup.observer());
    }

    /**
     * Decides who runs the work of this command, in one round trip, and never waits for another
     * caller's work.
     *
     * <p>Its only wait is for an operator or a purge that holds this very row at the moment. Above
     * READ COMMITTED it may fail with 40001 if the command was committed after the transaction's
     * snapshot; roll back and ask again. A second call in one transaction answers {@link
     * Claim.InFlight}.
     *
     * @throws TransactionRequiredException if the connection is in autocommit mode
     */
    public Claim tryStart(Connection connection, Command command) throws SQLException {
        NewRow row = NewRow.of(command, settings);
        if (connection.getAutoCommit()) {
            throw new TransactionRequiredException();
        }
        var watch = observer.isWatching() ? new CommandWatch(observer, command.scope()) : null;
        try {
            Claim claim = claim(connection, row);
            if (watch != null) {
                watch.claimed(connection, claim);
            }
            return claim;
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private Claim claim(Connection connection, NewRow row) throws SQLException {
        Seen seen = store.claim(connection, row);
        if (seen.isOutlived(row.command())) {
            store.remove(connection, row);
            seen = store.claim(connection, row);
        }
        return seen.decide(row, settings);
    }

    /**
     * Stores the result of the work; it becomes durable with the caller's COMMIT.
     *
     * @throws ClaimLostException if this transaction does not hold the claim any more; the
     *     transaction can only be rolled back
     * @throws ResultTooLargeException if the result exceeds the limit; nothing was sent
     */
    @SuppressWarnings("unchecked") // an object is an instance of its own class
    public void complete(Connection connection, Claim.Started started, @Nullable Object result)
            throws SQLException {
        Class<?> type = result == null ? Object.class : result.getClass();
        complete(connection, started, result, ResultType.of((Class<Object>) type));
    }

    /** The same for a result of a generic type. */
    public <T> void complete(
            Connection connection, Claim.Started started, @Nullable T result, ResultType<T> type)
            throws SQLException {
        var encoded = settings.encode(started.command(), result, type);
        finish(connection, started, Final.completed(encoded));
    }

    /**
     * Stores a deterministic "no" instead of a result. What the work wrote stays in the
     * transaction; undo it first, to a savepoint set after {@link #tryStart}.
     *
     * @throws ClaimLostException if this transaction does not hold the claim any more
     */
    public void reject(Connection connection, Claim.Started started, Rejection rejection)
            throws SQLException {
        Final end = Final.rejected(rejection);
        settings.checked(started.command(), end.result());
        finish(connection, started, end);
    }

    private void finish(Connection connection, Claim.Started started, Final end)
            throws SQLException {
        try {
            store.finish(
                    connection,
                    started.mark(),
                    started.row(),
                    settings.seal().sealed(started.row(), end));
        } catch (SQLException e) {
            if (SqlState.is(SqlState.CLAIM_LOST, e)
                    || SqlState.is(SqlState.NOT_THIS_TRANSACTION, e)) {
                throw new ClaimLostException(started.command());
            }
            throw explained(e);
        }
        CommandWatch.finished(observer, connection, started.command().scope(), end);
    }

    /**
     * What became of a command. Best asked on a connection in autocommit mode: inside a transaction
     * the question itself keeps the id from being claimed until that transaction ends.
     */
    public CommandInfo find(Connection connection, CommandScope scope, String id)
            throws SQLException {
        Names.require(id, "command id", 255);
        try {
            // The lock first: if it is free, a snapshot taken after it sees all that was committed.
            boolean free =
                    store.tryLock(connection, NewRow.lockKey(settings.schema(), scope, id), true);
            CommandInfo info = store.info(connection, scope, id).orElse(CommandInfo.NOT_FOUND);
            boolean settled =
                    info.state() != CommandInfo.State.NOT_FOUND
                            && info.state() != CommandInfo.State.UNRESOLVED;
            return free || settled ? info : CommandInfo.IN_FLIGHT;
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /**
     * Settles a command whose claim was committed without a completion, once somebody has found out
     * what became of its work. Part of the caller's transaction, like everything here.
     *
     * @param who the operator, 1 to 128 printable ASCII characters
     * @param why how it was found out, 1 to 1,000 of them
     * @throws NothingToResolveException if there is no such claim, or somebody is at it right now
     */
    public void resolve(
            Connection connection,
            CommandScope scope,
            String id,
            Resolution resolution,
            String who,
            String why)
            throws SQLException {
        Objects.requireNonNull(resolution, "resolution");
        Names.require(id, "command id", 255);
        Resolution.Settled settled = resolution.settled(settings.codec(), who, why);
        try {
            if (!store.tryLock(connection, NewRow.lockKey(settings.schema(), scope, id), false)) {
                throw new NothingToResolveException(scope, id, "it is in flight");
            }
            Optional<StoredRow> row = store.read(connection, scope, id);
            if (row.isEmpty()
                    || !store.resolve(
                            connection,
                            scope,
                            id,
                            settings.seal().sealed(scope, id, row.get(), settled))) {
                throw new NothingToResolveException(
                        scope, id, "it has no committed claim without a completion");
            }
        } catch (SQLException e) {
            throw explained(e);
        }
        log.info(
                "{}: {} by an operator",
                Command.label(scope, id),
                settled.released() ? "released" : "resolved");
    }

    /** Without ids; and missing tables are said to be missing. */
    private SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(settings.schema().value());
        }
        return SqlState.withoutDetail(e);
    }
}
