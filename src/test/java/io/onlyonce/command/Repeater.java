package io.onlyonce.command;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;

/** Sends one command again and again, on threads of its own; it must never get to work. */
record Repeater(CommandRunner commands, String id, RunOptions options) {

    Outcome<String> once() throws Exception {
        return commands.run(
                Bank.command(id),
                String.class,
                options,
                work -> {
                    throw new AssertionError("a duplicate ran the work");
                });
    }

    FutureTask<Outcome<String>> startOnce() {
        return start(this::once);
    }

    FutureTask<Void> startUntil(AtomicBoolean over) {
        return start(
                () -> {
                    while (!over.get()) {
                        try {
                            once();
                        } catch (CommandInFlightException e) {
                            // what is to be expected, again and again
                        }
                    }
                    return null;
                });
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        var task = new FutureTask<>(call);
        var thread = new Thread(task, "repeater");
        thread.setDaemon(true);
        thread.start();
        return task;
    }
}
