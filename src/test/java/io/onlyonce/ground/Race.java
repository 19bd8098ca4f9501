package io.onlyonce.ground;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Starts callers together on a barrier, each on a thread of its own, and waits for all of them. */
public final class Race {

    /** How long a race may take unless it says otherwise. */
    public static final Duration DEADLINE = Duration.ofSeconds(60);

    private Race() {}

    /** The results of the same call made by so many callers at once. */
    public static <T> List<T> of(int callers, Callable<T> call) throws Exception {
        return of(Collections.nCopies(callers, call));
    }

    /** The results of these calls made at once, in their order. */
    public static <T> List<T> of(List<Callable<T>> calls) throws Exception {
        return of(DEADLINE, calls);
    }

    /**
     * The results in the order of the calls; null stays null.
     *
     * <p>If callers fail, all are waited for, then the first failure in caller order is thrown with
     * the others suppressed.
     *
     * @throws AssertionError with the stacks of the stuck callers when the deadline passes
     */
    public static <T> List<T> of(Duration deadline, List<Callable<T>> calls) throws Exception {
        List<Attempt<T>> attempts = attempts(deadline, calls);
        List<Throwable> failures =
                attempts.stream()
                        .flatMap(attempt -> attempt.failure().stream())
                        .distinct()
                        .toList();
        if (!failures.isEmpty()) {
            throw merged(failures);
        }
        List<T> results = new ArrayList<>();
        attempts.forEach(attempt -> results.add(attempt.value().orElse(null)));
        return results;
    }

    /** How each of so many callers ended, for races in which some may fail. */
    public static <T> List<Attempt<T>> attempts(int callers, Callable<T> call) {
        return attempts(DEADLINE, Collections.nCopies(callers, call));
    }

    /** How each of these callers ended, in their order. */
    public static <T> List<Attempt<T>> attempts(List<Callable<T>> calls) {
        return attempts(DEADLINE, calls);
    }

    /**
     * How each of these callers ended, in their order.
     *
     * @throws AssertionError with the stacks of the stuck callers when the deadline passes
     */
    public static <T> List<Attempt<T>> attempts(Duration deadline, List<Callable<T>> calls) {
        var barrier = new CyclicBarrier(Math.max(1, calls.size()));
        List<FutureTask<T>> tasks = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (Callable<T> call : calls) {
            var task = new FutureTask<T>(() -> startTogether(barrier, call));
            var thread = new Thread(task, "race-caller-" + tasks.size());
            thread.setDaemon(true);
            tasks.add(task);
            threads.add(thread);
        }
        long end = System.nanoTime() + deadline.toNanos();
        threads.forEach(Thread::start);
        List<Attempt<T>> attempts = new ArrayList<>();
        for (FutureTask<T> task : tasks) {
            try {
                attempts.add(outcome(task, end));
            } catch (TimeoutException | InterruptedException e) {
                throw stuck(deadline, threads, e);
            }
        }
        return attempts;
    }

    private static <T> T startTogether(CyclicBarrier barrier, Callable<T> call) throws Exception {
        barrier.await();
        return call.call();
    }

    private static <T> Attempt<T> outcome(FutureTask<T> task, long end)
            throws TimeoutException, InterruptedException {
        try {
            return Attempt.returned(task.get(end - System.nanoTime(), TimeUnit.NANOSECONDS));
        } catch (ExecutionException e) {
            return Attempt.threw(e.getCause());
        }
    }

    private static Exception merged(List<Throwable> failures) {
        Throwable first = failures.get(0);
        failures.stream().skip(1).forEach(first::addSuppressed);
        if (first instanceof Error error) {
            throw error;
        }
        return (Exception) first;
    }

    private static AssertionError stuck(Duration deadline, List<Thread> threads, Exception why) {
        var message = new StringBuilder("the race was not over after " + Await.say(deadline) + ":");
        for (Thread thread : threads) {
            if (thread.isAlive()) {
                message.append("\n").append(thread.getName()).append(" ").append(thread.getState());
                for (StackTraceElement frame : thread.getStackTrace()) {
                    message.append("\n    at ").append(frame);
                }
            }
        }
        threads.forEach(Thread::interrupt);
        if (why instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return new AssertionError(message.toString(), why);
    }
}
