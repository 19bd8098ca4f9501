package io.onlyonce.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls of the publisher, each bounded in time; one that does not end is interrupted and left. */
final class Calls {

    /** So many threads may hang in the publisher before the relay stops calling it. */
    static final int MAX_ABANDONED = 4;

    private final EventPublisher publisher;
    private final Duration timeout;
    private final AtomicInteger abandoned = new AtomicInteger();

    Calls(EventPublisher publisher, Duration timeout) {
        this.publisher = publisher;
        this.timeout = timeout;
    }

    int abandoned() {
        return abandoned.get();
    }

    /** Says that the call as a whole came to nothing; the cause is the publisher's. */
    static final class CallFailedException extends Exception {
        private static final long serialVersionUID = 1L;

        CallFailedException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    List<PublishResult> publish(List<OutboxEvent> events)
            throws CallFailedException, InterruptedException {
        var task = new FutureTask<>(() -> publisher.publish(events));
        var thread = new Thread(() -> run(task), "onlyonce-publish");
        thread.setDaemon(true);
        thread.start();
        try {
            List<PublishResult> results = task.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            long answers = results == null ? 0 : results.stream().filter(Objects::nonNull).count();
            if (results == null || answers != events.size() || results.size() != events.size()) {
                throw new CallFailedException(
                        "the publisher gave %d answers for %d events"
                                .formatted(answers, events.size()),
                        new IllegalStateException("answers and events must match one by one"));
            }
            return results;
        } catch (ExecutionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new CallFailedException(
                    "the publisher threw " + cause.getClass().getName(), cause);
        } catch (TimeoutException e) {
            abandon(task);
            throw new CallFailedException("the publisher took longer than " + timeout, e);
        } catch (InterruptedException e) {
            abandon(task);
            throw e;
        }
    }

    private void abandon(FutureTask<?> task) {
        if (task.cancel(true)) {
            abandoned.incrementAndGet();
        }
    }

    private void run(FutureTask<?> task) {
        task.run();
        if (task.isCancelled()) {
            abandoned.decrementAndGet();
        }
    }
}
