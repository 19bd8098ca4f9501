package io.onlyonce.command;

import io.onlyonce.ground.Levels;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.ResultCodec;
import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;
import io.onlyonce.tx.Isolation;

import org.postgresql.PGConnection;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** One caller's connection: sends the library's own statements, one step at a time. */
final class ScheduleSession {

    /** What a step came to. */
    enum Answer {
        DONE,
        STARTED,
        IN_FLIGHT,
        REPLAYED,
        REJECTED,
        OUTCOME_UNKNOWN,
        /** 40001: the transaction can only be rolled back. */
        ABORTED,
        CLAIM_LOST
    }

    /**
     * An answer with what came with it.
     *
     * @param result what was replayed; empty if nothing was
     */
    record Reply(Answer answer, String result) {

        static Reply of(Answer answer) {
            return new Reply(answer, "");
        }
    }

    /** Longer than any schedule takes, so that who waits is let in and never sent away. */
    private static final Duration BLOCK = Duration.ofMinutes(5);

    private static final Settings SETTINGS =
            new Settings(
                    SchemaName.DEFAULT,
                    ResultCodec.json(),
                    1 << 20,
                    0,
                    Expiry.NEVER,
                    new Seal(SchemaName.DEFAULT, Optional.empty()));

    private final TestDatabase db;
    private final String name;
    private final PostgresCommands store =
            new PostgresCommands(
                    SchemaName.DEFAULT,
                    new io.onlyonce.sql.EventRows(
                            new io.onlyonce.sql.PostgreSql(), SchemaName.DEFAULT, false, false));
    private final CommandDedup dedup = new CommandDedup(store, SETTINGS, Observer.NONE);

    private Connection connection;
    private int pid;
    private Isolation connectionLevel = Isolation.READ_COMMITTED;
    private ScheduleScript script;
    private Claim.Started started;
    private NewRow row;

    ScheduleSession(TestDatabase db, String name) throws SQLException {
        this.db = db;
        this.name = name;
        connect();
    }

    private void connect() throws SQLException {
        connection = db.connect();
        connection.setAutoCommit(false);
        pid = connection.unwrap(PGConnection.class).getBackendPID();
        connectionLevel = Isolation.READ_COMMITTED;
    }

    /** Makes ready for another schedule, with a new connection if the last one was killed. */
    void begin(ScheduleScript script, Command command) throws SQLException {
        this.script = script;
        row = NewRow.of(command, SETTINGS);
        started = null;
        if (connection.isClosed()) {
            connect();
        }
        // The high road states its level with its first trip, whatever the connection has.
        if (!script.road().isHigh() && connectionLevel != script.level()) {
            connection.setTransactionIsolation(Levels.jdbc(script.level()));
            connectionLevel = script.level();
        }
    }

    /** Of the connection, also after its end. */
    int pid() {
        return pid;
    }

    void close() throws SQLException {
        connection.close();
    }

    /** Ends it also under a statement that waits. */
    void abort() throws SQLException {
        connection.abort(Runnable::run);
    }

    Reply perform(ScheduleScript.Step step) throws SQLException {
        try {
            return step == ScheduleScript.Step.CLAIM ? claim() : Reply.of(other(step));
        } catch (ClaimLostException e) {
            return Reply.of(Answer.CLAIM_LOST);
        } catch (SQLException e) {
            if (SqlState.is(SqlState.SERIALIZATION_FAILURE, e)) {
                return Reply.of(Answer.ABORTED);
            }
            throw e;
        }
    }

    private Reply claim() throws SQLException {
        Claim claim;
        if (script.road().isHigh()) {
            String level = "SET TRANSACTION ISOLATION LEVEL " + Levels.sql(script.level()) + ";";
            claim = store.open(connection, level, row, plan()).decide(row, SETTINGS);
        } else {
            if (script.end() == ScheduleScript.End.STALE_IN_TRANSACTION) {
                execute("SAVEPOINT before_claim");
            }
            claim = dedup.tryStart(connection, row.command());
        }
        if (claim instanceof Claim.Started mine) {
            started = mine;
            return Reply.of(Answer.STARTED);
        }
        if (claim instanceof Claim.Replayed found) {
            return new Reply(Answer.REPLAYED, String.valueOf(found.value(String.class)));
        }
        if (claim instanceof Claim.Rejected no) {
            return new Reply(Answer.REJECTED, no.rejection().detail());
        }
        if (claim instanceof Claim.InFlight) {
            return Reply.of(Answer.IN_FLIGHT);
        }
        if (claim instanceof Claim.OutcomeUnknown) {
            return Reply.of(Answer.OUTCOME_UNKNOWN);
        }
        throw new AssertionError("no schedule leads to " + claim);
    }

    private Answer other(ScheduleScript.Step step) throws SQLException {
        switch (step) {
            case SNAPSHOT -> execute("SELECT 1");
            case WRITE -> execute("UPDATE account SET balance = balance + 1 WHERE id = 'shared'");
            case WORK -> work();
            case FINISH, STALE_FINISH -> dedup.complete(connection, started, name);
            case FINISH_AND_COMMIT -> finishAndCommit(false);
            case REJECT_AND_COMMIT -> finishAndCommit(true);
            case UNDO_CLAIM -> execute("ROLLBACK TO SAVEPOINT before_claim");
            case COMMIT -> connection.commit();
            case ROLLBACK -> connection.rollback();
            default -> throw new AssertionError(step + " is not the session's to do");
        }
        return Answer.DONE;
    }

    private void work() throws SQLException {
        String sql = "INSERT INTO audit (command, what) VALUES (?, ?)";
        Bank.execute(connection, sql, row.command().id(), name);
    }

    private void finishAndCommit(boolean reject) throws SQLException {
        Final end =
                reject
                        ? Final.rejected(new Rejection("NO", name))
                        : Final.completed(
                                SETTINGS.encode(row.command(), name, ResultType.of(String.class)));
        List<OutboxEvent> events = reject ? List.of() : List.of(Bank.event(row.command().id()));
        var finish = new CommandStore.Finish(plan(), reject, end, events);
        store.finishAndCommit(connection, started.mark(), row, finish);
    }

    private CommandStore.Plan plan() {
        boolean blocks = script.road() == ScheduleScript.Road.HIGH_BLOCKING;
        return new CommandStore.Plan(script.level(), true, blocks ? BLOCK : null);
    }

    private void execute(String sql) throws SQLException {
        CommandStore.execute(connection, sql);
    }
}
