package io.onlyonce.outbox;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Reads one page while another is being published and marked. What cannot be read, or was read too
 * long ago, is as if it had not been asked for.
 */
final class Ahead<T> {

    private final Duration fresh;
    private Optional<FutureTask<T>> reading = Optional.empty();
    private long since;

    Ahead(Duration fresh) {
        this.fresh = fresh;
    }

    void read(Callable<T> page) {
        var task = new FutureTask<>(page);
        var thread = new Thread(task, "onlyonce-relay-ahead");
        thread.setDaemon(true);
        thread.start();
        reading = Optional.of(task);
        since = System.nanoTime();
    }

    Optional<T> take() throws InterruptedException {
        Optional<FutureTask<T>> task = reading;
        boolean isFresh = System.nanoTime() - since < fresh.toNanos();
        reading = Optional.empty();
        if (task.isEmpty() || !isFresh) {
            return Optional.empty();
        }
        try {
            return Optional.of(task.get().get());
        } catch (ExecutionException e) { // the next page is read without it, and says why
            return Optional.empty();
        }
    }

    void forget() {
        reading = Optional.empty();
    }
}
