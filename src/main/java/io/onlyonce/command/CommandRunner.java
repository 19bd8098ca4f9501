package io.onlyonce.command;

import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.Turns;

import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;

import javax.sql.DataSource;

/**
 * The high road: runs a command's work in a transaction of ours, once, and gives every repetition
 * the same answer.
 *
 * <p>Claim, work, result and events commit together or not at all, so a crash anywhere leaves
 * nothing to clean up. A return means durable. A COMMIT whose answer was lost is looked into, under
 * the same id, before anything is reported. Serialization failures and deadlocks run the work
 * again.
 *
 * <p>Thread-safe. A call blocks its thread and holds one connection while it asks or works, none
 * while it waits. Do not call it from inside a work: that would be a second connection and a commit
 * of its own; use {@link CommandDedup} on {@code work.connection()} instead.
 */
public final class CommandRunner {

    private final DataSource dataSource;
    private final CommandStore store;
    private final Settings settings;
    private final RunOptions defaults;
    private final Runnable onEvents;
    private final Observer observer;
    private final Optional<KeyBudget> budget;
    private final Turns turns = new Turns();

    private CommandRunner(CommandSetup setup, RunOptions defaults) {
        dataSource = setup.dataSource();
        store = CommandStore.of(setup);
        settings = Settings.of(setup);
        this.defaults = defaults;
        onEvents = setup.onEvents();
        observer = setup.observer();
        budget = setup.budget().map(each -> new KeyBudget(setup, each));
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a CommandSetup
    public static CommandRunner of(CommandSetup setup, RunOptions defaults) {
        return new CommandRunner(setup, defaults);
    }

    /** Runs with the default options. */
    public <T, X extends Exception> Outcome<T> run(
            Command command, Class<T> type, CommandWork<T, X> work) throws X, SQLException {
        return run(command, ResultType.of(type), defaults, work);
    }

    /** Runs with these options. */
    public <T, X extends Exception> Outcome<T> run(
            Command command, Class<T> type, RunOptions options, CommandWork<T, X> work)
            throws X, SQLException {
        return run(command, ResultType.of(type), options, work);
    }

    /** Runs with the default options, for a result of a generic type. */
    public <T, X extends Exception> Outcome<T> run(
            Command command, ResultType<T> type, CommandWork<T, X> work) throws X, SQLException {
        return run(command, type, defaults, work);
    }

    /**
     * Runs the command, or replays it.
     *
     * @return what the work returned, in this call or when it ran
     * @throws CommandRejectedException if the work said no, in this call or when it ran; a "no"
     *     that followed a timeout, deadlock or lost connection is not stored, and that error is
     *     thrown
     * @throws CommandInFlightException if it is still running elsewhere after the policy's bound
     * @throws PayloadMismatchException if the id was used for another payload
     * @throws CommandExpiredException if its result is no longer replayed
     * @throws KeyBudgetExceededException if it is new and its caller has used up its new ids
     * @throws CommandOutcomeUnknownException if its claim was committed and never completed
     * @throws io.onlyonce.tx.CommitOutcomeUnknownException if the deadline passed before it could
     *     be found out whether COMMIT had succeeded; the same call may be repeated
     * @throws X what the work threw; everything is rolled back and the id is free
     */
    public <T, X extends Exception> Outcome<T> run(
            Command command, ResultType<T> type, RunOptions options, CommandWork<T, X> work)
            throws X, SQLException {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(work, "work");
        var row = NewRow.of(Objects.requireNonNull(command, "command"), settings);
        return new CommandRun<>(this, row, type, options, work).run();
    }

    /** The options of every run that brings none of its own. */
    public RunOptions defaults() {
        return defaults;
    }

    DataSource dataSource() {
        return dataSource;
    }

    CommandStore store() {
        return store;
    }

    Settings settings() {
        return settings;
    }

    /** Tells the relays of this process that there is something to publish. */
    void eventsCommitted() {
        onEvents.run();
    }

    Observer observer() {
        return observer;
    }

    Optional<KeyBudget> budget() {
        return budget;
    }

    Turns turns() {
        return turns;
    }
}
