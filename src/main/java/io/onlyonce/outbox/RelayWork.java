package io.onlyonce.outbox;

import io.onlyonce.outbox.RelayStore.Due;
import io.onlyonce.outbox.RelayStore.Failure;
import io.onlyonce.outbox.RelayStore.Fetched;
import io.onlyonce.outbox.RelayStore.Settled;
import io.onlyonce.outbox.RelayStore.Settlement;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * The rounds of one relay, one round at a time. Under a backlog a round has two lanes, each with
 * half of the buckets: one fetches or marks while the other publishes.
 */
final class RelayWork {

    private static final Logger log = LoggerFactory.getLogger(RelayWork.class);

    private final RelaySetup setup;
    private final RelayOptions options;
    private final TransactionOptions transaction;
    private final RelayStore store;
    private final Ownership owned;
    private final Calls calls;
    private final Health health;
    private final BooleanSupplier isHalted; // asked before each call: a round may have hundreds
    private final Suspects suspects = new Suspects();
    private final ReentrantLock publishing = new ReentrantLock(); // one call at a time
    private final Lane first = new Lane();
    private final Lane second = new Lane();
    private final RelayCounts counts = new RelayCounts();

    /** What was found in these buckets, and under which leases. */
    private record Page(List<Integer> buckets, Map<Integer, Long> under, Fetched fetched) {}

    RelayWork(
            RelaySetup setup,
            OutboxMode mode,
            EventPublisher publisher,
            RelayOptions options,
            BooleanSupplier isHalted) {
        this.setup = setup;
        this.options = options;
        this.isHalted = isHalted;
        TransactionOptions base =
                TransactionOptions.readCommitted()
                        .withRetry(RetryPolicy.standard())
                        .withDeadline(options.lease());
        transaction = setup.poolAutoCommitOff() ? base.poolAutoCommitOff() : base;
        store = RelayStore.of(setup.database(), setup.schema(), mode);
        owned = new Ownership(setup, options, transaction);
        calls = new Calls(publisher, options.publishTimeout());
        health = new Health(options);
    }

    RelayStats stats() {
        return counts.with(owned, calls);
    }

    void report() {
        if (setup.observer().isWatching()) {
            counts.tell(setup.observer(), stats());
        }
    }

    boolean isOverrun() {
        return calls.abandoned() >= Calls.MAX_ABANDONED;
    }

    void leave() {
        owned.leave();
    }

    int round() throws SQLException, InterruptedException {
        owned.share();
        List<Integer> healthy = health.healthy(owned.held().keySet());
        int half = healthy.size() / 2;
        int moved = 0;
        if ((first.isFull() || second.isFull()) && half > 0) {
            moved += both(healthy.subList(0, half), healthy.subList(half, healthy.size()));
        } else if (!healthy.isEmpty()) {
            moved += along(first, healthy);
        }
        for (int bucket : health.recovering(owned.held().keySet())) {
            moved += offer(fetch(List.of(bucket), health.limit(bucket)));
        }
        return moved;
    }

    private int both(List<Integer> mine, List<Integer> others)
            throws SQLException, InterruptedException {
        var task = new FutureTask<>(() -> along(second, others));
        var thread = new Thread(task, "onlyonce-relay-second");
        thread.setDaemon(true);
        thread.start();
        try {
            return along(first, mine) + answer(task);
        } catch (InterruptedException e) {
            thread.interrupt();
            throw e;
        } finally {
            end(thread);
        }
    }

    private static int answer(FutureTask<Integer> task) throws SQLException, InterruptedException {
        try {
            return task.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SQLException cause) {
                throw cause;
            }
            if (e.getCause() instanceof InterruptedException cause) {
                throw cause;
            }
            throw new IllegalStateException("the second half of the round failed", e.getCause());
        }
    }

    /** A round is over when both lanes are; calls and statements are bounded, so that they end. */
    private static void end(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                thread.interrupt();
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private int along(Lane lane, List<Integer> buckets) throws SQLException, InterruptedException {
        Page page = fetch(lane.order(buckets), options.batch());
        lane.moveOn(page.buckets(), page.fetched().ready(), options.batch());
        return offer(page);
    }

    private int offer(Page page) throws SQLException, InterruptedException {
        Fetched fetched = page.fetched();
        if (fetched.isEmpty()) {
            health.nothingLeft(page.buckets());
            return 0;
        }
        int moved = 0;
        List<Due> empty = fetched.due().stream().filter(due -> due.events().isEmpty()).toList();
        if (!fetched.behind().isEmpty() || !empty.isEmpty()) {
            settle(List.of(), List.of(), fetched.behind(), empty);
            moved += fetched.behind().size() + empty.size();
        }
        if (!fetched.ready().isEmpty()) {
            moved += publish(fetched.ready(), page.under(), Optional.empty());
        }
        for (Due due : fetched.due()) {
            if (!due.events().isEmpty()) {
                StoredEvent head = due.events().get(0);
                boolean alone = head.attempts() > 0 || suspects.contains(head);
                List<StoredEvent> batch = alone ? List.of(head) : due.events();
                boolean last = batch.size() == due.events().size();
                moved += publish(batch, page.under(), last ? Optional.of(due) : Optional.empty());
            }
        }
        return moved;
    }

    private Page fetch(List<Integer> buckets, int limit) throws SQLException {
        var fetched = new Fetched[1];
        Map<Integer, Long> under = owned.held();
        Transaction.within(
                Transaction.begin(
                        setup.dataSource(),
                        transaction,
                        Deadline.after(options.lease()),
                        (connection, settings) -> {
                            fetched[0] = store.fetch(connection, settings, buckets, limit);
                            return "read only";
                        }),
                tx -> 0);
        return new Page(buckets, under, fetched[0]);
    }

    private int publish(List<StoredEvent> batch, Map<Integer, Long> under, Optional<Due> emptied)
            throws SQLException, InterruptedException {
        List<StoredEvent> ours = batch;
        List<PublishResult> results;
        try {
            publishing.lockInterruptibly();
            try {
                if (isOverrun() || isHalted.getAsBoolean()) {
                    return 0;
                }
                owned.renew(); // a call must not begin with an old lease
                ours = batch.stream().filter(event -> isStillHeld(event.bucket(), under)).toList();
                if (ours.isEmpty()) {
                    return 0;
                }
                results = calls.publish(ours.stream().map(StoredEvent::event).toList());
            } finally {
                publishing.unlock();
            }
        } catch (Calls.CallFailedException e) {
            counts.failedCalls.incrementAndGet();
            log.warn("a call with {} events came to nothing: {}", ours.size(), e.getMessage());
            return failedCall(ours, e);
        }
        if (results.stream().anyMatch(r -> r.kind() == PublishResult.Kind.PUBLISHED)) {
            suspects.publisherWorks();
        }
        health.succeeded(buckets(ours));
        return answered(ours, results, emptied);
    }

    /**
     * False also for a bucket that was lost and taken again: others may have been at work there.
     */
    private boolean isStillHeld(int bucket, Map<Integer, Long> under) {
        Long token = owned.held().get(bucket);
        return token != null && token.equals(under.get(bucket));
    }

    /** Charges nobody, unless the event was alone and others have succeeded since it last was. */
    private int failedCall(List<StoredEvent> batch, Exception failure) throws SQLException {
        health.failed(buckets(batch), batch.size());
        if (batch.size() > 1) {
            return 0;
        }
        StoredEvent event = batch.get(0);
        Suspects.Verdict verdict = suspects.failedAlone(event);
        String error = String.valueOf(failure.getMessage());
        Failure set =
                verdict.guilty()
                        ? attempt(event, error)
                        : new Failure(
                                event,
                                event.attempts(),
                                error,
                                jittered(options.backoff(verdict.failures())));
        List<Failure> charged = settle(List.of(), List.of(set), List.of(), List.of()).charged();
        if (!verdict.guilty()) {
            return 0;
        }
        health.isolated(event.bucket());
        return note(charged);
    }

    private Failure attempt(StoredEvent event, String error) {
        int attempts = event.attempts() + 1;
        boolean isLast = attempts >= options.attempts();
        return new Failure(
                event, attempts, error, isLast ? null : jittered(options.backoff(attempts)));
    }

    /** Counts what is stored; returns how many events were put aside, so that others may go on. */
    private int note(List<Failure> charged) {
        counts.failed.addAndGet(charged.size());
        for (Failure failure : charged) {
            if (failure.backoffMicros() == null) {
                counts.dead.incrementAndGet();
                suspects.clear(failure.event());
                log.error(
                        "an event of type {} failed {} times and is a dead letter now",
                        failure.event().event().type(),
                        failure.attempts());
            }
        }
        return charged.size();
    }

    private static long jittered(Duration ceiling) {
        long micros = Math.max(1, ceiling.toNanos() / 1_000);
        return micros / 2 + ThreadLocalRandom.current().nextLong(micros / 2 + 1);
    }

    private int answered(
            List<StoredEvent> batch, List<PublishResult> results, Optional<Due> emptied)
            throws SQLException {
        List<StoredEvent> ready = new ArrayList<>();
        List<StoredEvent> waiting = new ArrayList<>();
        List<Failure> failures = new ArrayList<>();
        for (int i = 0; i < batch.size(); i++) {
            StoredEvent event = batch.get(i);
            switch (results.get(i).kind()) {
                case PUBLISHED -> (event.waiting() ? waiting : ready).add(event);
                case FAILED -> failures.add(attempt(event, results.get(i).error().orElse("")));
                case NOT_TRIED -> {}
            }
        }
        ready.forEach(suspects::clear);
        waiting.forEach(suspects::clear);
        int marked = 0;
        int putAside = 0;
        try {
            marked += ready.isEmpty() ? 0 : mark(ready);
            if (!waiting.isEmpty() || !failures.isEmpty()) {
                List<Due> done =
                        emptied.filter(due -> failures.isEmpty()).map(List::of).orElse(List.of());
                Settled settled = settle(waiting, failures, List.of(), done);
                marked += settled.marked();
                putAside = note(settled.charged());
            }
        } finally { // a mark that was lost on its way counts too
            counts.published.addAndGet(marked);
            counts.unmarked.addAndGet(ready.size() + waiting.size() - marked);
        }
        return marked + putAside;
    }

    private int mark(List<StoredEvent> events) throws SQLException {
        try {
            return mark(events, false);
        } catch (SQLException e) {
            if (!SqlState.is(SqlState.LOCK_NOT_AVAILABLE, e)) {
                throw e;
            }
            return mark(events, true); // one is being appended again: it is delivered once more
        }
    }

    private int mark(List<StoredEvent> events, boolean spare) throws SQLException {
        var count = new int[1];
        Map<Integer, Long> tokens = owned.tokens(buckets(events));
        Transaction.within(
                Transaction.begin(
                        setup.dataSource(),
                        transaction,
                        Deadline.after(options.lease()),
                        (connection, settings) -> {
                            count[0] =
                                    store.markPublished(
                                            connection, settings, tokens, events, spare);
                            return "one statement";
                        }),
                tx -> {
                    tx.commit((connection, mark) -> connection.commit());
                    return 0;
                });
        return count[0];
    }

    private Settled settle(
            List<StoredEvent> publishedWaiting,
            List<Failure> failures,
            List<StoredEvent> behind,
            List<Due> emptied)
            throws SQLException {
        Set<Integer> buckets = new TreeSet<>();
        publishedWaiting.forEach(event -> buckets.add(event.bucket()));
        failures.forEach(failure -> buckets.add(failure.event().bucket()));
        behind.forEach(event -> buckets.add(event.bucket()));
        emptied.forEach(due -> buckets.add(due.bucket()));
        var settlement =
                new Settlement(publishedWaiting, failures, behind, emptied, options.othersWait());
        return Transaction.within(
                Transaction.begin(setup.dataSource(), transaction, Deadline.after(options.lease())),
                tx -> {
                    Settled settled =
                            store.settle(tx.connection(), owned.tokens(buckets), settlement);
                    tx.commit();
                    return settled;
                });
    }

    private static Set<Integer> buckets(List<StoredEvent> events) {
        return events.stream().map(StoredEvent::bucket).collect(Collectors.toSet());
    }
}
