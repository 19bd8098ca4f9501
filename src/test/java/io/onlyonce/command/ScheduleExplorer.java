package io.onlyonce.command;

import io.onlyonce.command.ScheduleScript.Step;
import io.onlyonce.command.ScheduleSession.Reply;
import io.onlyonce.ground.TestDatabase;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Steps callers of one command id through schedules, one round trip at a time, and holds every
 * answer against the promises. A step that waits in the database is known by asking the server; its
 * caller is passed over until the wait has ended.
 */
final class ScheduleExplorer implements AutoCloseable {

    /** After this time without an answer the server is asked whether the step waits. */
    private static final Duration PATIENCE = Duration.ofMillis(2);

    private static final Duration DEADLINE = Duration.ofSeconds(60);

    private final Connection observer;
    private final Backends backends;
    private final ScheduleLedger ledger;
    private final List<ScheduleCaller> pool = new ArrayList<>();
    private final ScheduleTally tally;
    private List<ScheduleCaller> callers = List.of();
    private List<String> trace = new ArrayList<>();
    private ScheduleOracle oracle = new ScheduleOracle();

    ScheduleExplorer(TestDatabase db, int callers, ScheduleTally tally) throws SQLException {
        this.tally = tally;
        observer = db.connect();
        backends = new Backends(observer);
        ledger = new ScheduleLedger(observer);
        for (int i = 1; i <= callers; i++) {
            pool.add(new ScheduleCaller(db, backends, "caller" + i));
        }
    }

    /** Our tables and the bank's, where commits are quick: no schedule crashes the server. */
    static void prepare(TestDatabase db) throws SQLException {
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('shared', 0)");
        db.execute("CREATE INDEX ON audit (command)");
        db.execute(
                """
                DO $$ BEGIN
                    EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database());
                END $$
                """);
    }

    /** Every interleaving of these callers; says how many there are. */
    long all(ScheduleScript... scripts) throws Exception {
        long before = tally.schedules();
        var choices = ScheduleChoices.all();
        do {
            one(choices, scripts);
        } while (choices.advance());
        return tally.schedules() - before;
    }

    /** The one interleaving that these choices lead to. */
    void one(ScheduleChoices choices, ScheduleScript... scripts) throws Exception {
        Command command = Bank.command(Bank.id("schedule"));
        callers = pool.subList(0, scripts.length);
        trace = new ArrayList<>();
        oracle = new ScheduleOracle();
        try {
            for (int i = 0; i < scripts.length; i++) {
                callers.get(i).begin(scripts[i], command);
            }
            run(choices);
            oracle.durable(ledger.read(command.id()));
        } catch (AssertionError e) {
            throw new AssertionError(
                    "%s%n  of %s%n  in %s"
                            .formatted(e.getMessage(), List.of(scripts), String.join(", ", trace)),
                    e);
        }
        tally.schedule(trace.size());
        tally.count("left " + oracle.stored());
        tally.count(roads(scripts));
    }

    private static String roads(ScheduleScript... scripts) {
        return Arrays.stream(scripts)
                .map(script -> script.road().name())
                .sorted()
                .collect(Collectors.joining(" with ", "of ", ""));
    }

    private void run(ScheduleChoices choices) throws Exception {
        List<ScheduleCaller> waiting = new ArrayList<>();
        while (true) {
            List<ScheduleCaller> ready = callers.stream().filter(ScheduleCaller::isReady).toList();
            if (ready.isEmpty()) {
                break;
            }
            ScheduleCaller caller = ready.get(choices.pick(ready.size()));
            Step step = caller.start();
            oracle.starts(caller, step);
            if (!settle(caller)) {
                trace.add(caller.name() + " " + step + " waits");
                tally.count(step + " waits");
                oracle.waits(caller, step);
                waiting.add(caller);
            }
            letIn(waiting);
        }
        if (!waiting.isEmpty()) {
            throw new AssertionError("callers wait for ever");
        }
    }

    /** In the order in which they came; whoever is let in may let in another one by failing. */
    private void letIn(List<ScheduleCaller> waiting) throws Exception {
        int before;
        do {
            before = waiting.size();
            for (ScheduleCaller caller : List.copyOf(waiting)) {
                if (settle(caller)) {
                    waiting.remove(caller);
                }
            }
        } while (waiting.size() < before);
    }

    /** True once the step has its answer; false if it certainly waits for another caller. */
    private boolean settle(ScheduleCaller caller) throws Exception {
        Step step = caller.running().orElseThrow();
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!caller.isAnswered(PATIENCE)) {
            if (backends.isHeldUp(caller.pid(), othersThan(caller))) {
                return false;
            }
            if (System.nanoTime() - end > 0) {
                throw new AssertionError(caller.name() + " " + step + " has no answer");
            }
        }
        Reply reply = caller.take();
        trace.add(caller.name() + " " + step + ": " + reply.answer());
        if (reply.answer() != ScheduleSession.Answer.DONE) {
            tally.count(step + " → " + reply.answer());
        }
        oracle.ended(caller, step, reply);
        return true;
    }

    private Integer[] othersThan(ScheduleCaller caller) {
        return callers.stream()
                .filter(other -> other != caller)
                .map(ScheduleCaller::pid)
                .toArray(Integer[]::new);
    }

    @Override
    public void close() throws SQLException {
        for (ScheduleCaller caller : pool) {
            caller.close();
        }
        observer.close();
    }
}
