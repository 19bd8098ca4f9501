package io.onlyonce.command;

import io.onlyonce.ground.TestDatabase;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** A command that is in flight, on a connection of its own, until it is told to end. */
record Winner(String id, CountDownLatch end, FutureTask<Outcome<String>> call)
        implements AutoCloseable {

    private static final int SECONDS = 60;

    /** Returns once the command's work runs. */
    static Winner of(TestDatabase db, String id) throws Exception {
        var commands = Bank.once(db.dataSource()).commands();
        var working = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        var call =
                new FutureTask<>(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        work -> {
                                            working.countDown();
                                            end.await(SECONDS, TimeUnit.SECONDS);
                                            return "won";
                                        }));
        var thread = new Thread(call, "winner");
        thread.setDaemon(true);
        thread.start();
        if (!working.await(SECONDS, TimeUnit.SECONDS)) {
            call.get(0, TimeUnit.SECONDS);
        }
        return new Winner(id, end, call);
    }

    boolean inFlight() {
        return !call.isDone();
    }

    /** Ends it and returns once it is durable. */
    @Override
    public void close() throws Exception {
        end.countDown();
        call.get(SECONDS, TimeUnit.SECONDS);
    }
}
