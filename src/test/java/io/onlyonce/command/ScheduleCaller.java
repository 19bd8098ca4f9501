package io.onlyonce.command;

import io.onlyonce.command.ScheduleScript.Step;
import io.onlyonce.command.ScheduleSession.Answer;
import io.onlyonce.command.ScheduleSession.Reply;
import io.onlyonce.ground.TestDatabase;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One caller: follows its script if it is given the command, and asks once more if it is not. Its
 * steps run on a thread of its own, so that one which waits in the database holds up nobody else.
 */
final class ScheduleCaller implements AutoCloseable {

    /** How often a caller asks, or begins anew after an abort. */
    private static final int ATTEMPTS = 2;

    private final String name;
    private final ScheduleSession session;
    private final Backends backends;
    private final ExecutorService thread;
    private final Deque<Step> todo = new ArrayDeque<>();

    private ScheduleScript script;
    private int attempts;
    private Step running;
    private Future<Reply> reply;

    ScheduleCaller(TestDatabase db, Backends backends, String name) throws SQLException {
        this.name = name;
        this.backends = backends;
        session = new ScheduleSession(db, name);
        thread =
                Executors.newSingleThreadExecutor(
                        task -> {
                            var caller = new Thread(task, "caller-" + name);
                            caller.setDaemon(true);
                            return caller;
                        });
    }

    void begin(ScheduleScript script, Command command) throws SQLException {
        session.begin(script, command);
        this.script = script;
        attempts = 0;
        todo.clear();
        again(script.steps());
    }

    String name() {
        return name;
    }

    ScheduleScript script() {
        return script;
    }

    int pid() {
        return session.pid();
    }

    /** The step under way, blocked or not. */
    Optional<Step> running() {
        return Optional.ofNullable(running);
    }

    boolean isReady() {
        return running == null && !todo.isEmpty();
    }

    /**
     * Sends the next step on its way; being killed is not the caller's own doing, so it is done at
     * once.
     */
    Step start() throws SQLException {
        Step step = todo.remove();
        running = step;
        if (step == Step.KILL) {
            backends.kill(session.pid());
            session.close();
            reply = CompletableFuture.completedFuture(Reply.of(Answer.DONE));
        } else {
            reply = thread.submit(() -> session.perform(step));
        }
        return step;
    }

    /** True as soon as the step has its answer; false if it has none after this time. */
    boolean isAnswered(Duration within) throws InterruptedException {
        try {
            reply.get(within.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true;
        }
    }

    /** The answer to the step, which also decides what the caller does next. */
    Reply take() throws Exception {
        Step step = running;
        running = null;
        Reply answer;
        try {
            answer = reply.get();
        } catch (ExecutionException e) {
            throw new AssertionError(name + " " + step + " failed", e.getCause());
        }
        if (answer.answer() == Answer.ABORTED) {
            todo.clear();
            todo.add(Step.ROLLBACK);
            again(step == Step.STALE_FINISH ? List.of() : script.steps());
        } else if (step == Step.CLAIM && answer.answer() != Answer.STARTED) {
            refused(answer.answer() == Answer.IN_FLIGHT);
        }
        return answer;
    }

    private void refused(boolean inFlight) {
        boolean high = script.road().isHigh();
        todo.clear();
        if (high) {
            todo.add(Step.ROLLBACK);
        }
        if (!inFlight || !again(high ? script.steps() : script.stepsFromClaim())) {
            if (!high) {
                todo.add(Step.COMMIT); // of a transaction of its own, in which nothing was claimed
            }
        }
    }

    private boolean again(List<Step> steps) {
        boolean may = attempts < ATTEMPTS;
        attempts++;
        if (may) {
            todo.addAll(steps);
        }
        return may;
    }

    @Override
    public void close() throws SQLException {
        thread.shutdownNow();
        session.abort();
    }
}
