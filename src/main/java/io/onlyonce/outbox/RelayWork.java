package io.onlyonce.outbox;

import io.onlyonce.observe.ObservedRelay;
import io.onlyonce.outbox.RelayStore.Due;
import io.onlyonce.outbox.RelayStore.Failure;
import io.onlyonce.outbox.RelayStore.Fetched;
import io.onlyonce.outbox.RelayStore.Settlement;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** The rounds of one relay; for one thread at a time. */
final class RelayWork {

    private static final Logger log = LoggerFactory.getLogger(RelayWork.class);
    private static final int SUSPECTS = 10_000;
    private static final ObservedRelay NOTHING = new ObservedRelay(0, 0, 0, 0, 0, 0);

    private final RelaySetup setup;
    private final RelayOptions options;
    private final TransactionOptions transaction;
    private final RelayStore store;
    private final Leases leases;
    private final Calls calls;
    private final Health health;
    private final Ahead<Page> ahead;

    /** Events that failed alone, and when; innocent until others have succeeded since. */
    private final Map<UUID, Suspect> suspects =
            new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<UUID, Suspect> eldest) {
                    return size() > SUSPECTS;
                }
            };

    private record Suspect(int failures, long lastFailure) {}

    /** What was found in these buckets, and under which leases. */
    private record Page(List<Integer> buckets, Map<Integer, Long> under, Fetched fetched) {}

    private volatile Map<Integer, Long> held = Map.of();
    private Map<Integer, Long> fetchedUnder = Map.of();
    private long keptAt = System.nanoTime() - Duration.ofDays(1).toNanos();
    private long lastSuccess = keptAt;
    private int next;

    private final AtomicLong published = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicLong dead = new AtomicLong();
    private final AtomicLong failedCalls = new AtomicLong();
    private final AtomicLong unmarked = new AtomicLong();
    private final AtomicLong leasesLost = new AtomicLong();
    private final AtomicReference<RelayStats> reported =
            new AtomicReference<>(new RelayStats(0, 0, 0, 0, 0, 0, 0, 0));

    RelayWork(RelaySetup setup, OutboxMode mode, EventPublisher publisher, RelayOptions options) {
        this.setup = setup;
        this.options = options;
        store = RelayStore.of(setup.database(), setup.schema(), mode);
        leases =
                new Leases(
                        setup.database(),
                        setup.schema(),
                        UUID.randomUUID().toString(),
                        options.lease());
        calls = new Calls(publisher, options.publishTimeout());
        health = new Health(options);
        ahead = new Ahead<>(options.poll());
        TransactionOptions base =
                TransactionOptions.readCommitted()
                        .withRetry(RetryPolicy.standard())
                        .withDeadline(options.lease());
        transaction = setup.poolAutoCommitOff() ? base.poolAutoCommitOff() : base;
    }

    RelayStats stats() {
        return new RelayStats(
                published.get(),
                failed.get(),
                dead.get(),
                failedCalls.get(),
                unmarked.get(),
                leasesLost.get(),
                held.size(),
                calls.abandoned());
    }

    /** Tells the listener what has happened since it was last told. */
    void report() {
        if (!setup.observer().isWatching()) {
            return;
        }
        RelayStats now = stats();
        RelayStats before = reported.getAndSet(now);
        var round =
                new ObservedRelay(
                        now.published() - before.published(),
                        now.failed() - before.failed(),
                        now.dead() - before.dead(),
                        now.failedCalls() - before.failedCalls(),
                        now.unmarked() - before.unmarked(),
                        now.leasesLost() - before.leasesLost());
        if (!round.equals(NOTHING)) {
            setup.observer().tell(listener -> listener.relayed(round));
        }
    }

    boolean isOverrun() {
        return calls.abandoned() >= Calls.MAX_ABANDONED;
    }

    /** The publisher is said to work again. */
    void forgive() {
        lastSuccess = System.nanoTime();
    }

    int round() throws SQLException, InterruptedException {
        keep();
        int moved = 0;
        List<Integer> healthy = rotated(health.healthy(held.keySet()));
        if (!healthy.isEmpty()) {
            Page page = nextPage(healthy);
            moveOn(healthy, page.fetched().ready());
            if (page.fetched().ready().size() == options.batch()) {
                ahead.read(() -> fetch(others(healthy, page), options.batch()));
            }
            moved += offer(page);
        }
        for (int bucket : health.recovering(held.keySet())) {
            moved += offer(fetch(List.of(bucket), health.limit(bucket)));
        }
        return moved;
    }

    /** What was read ahead, if it holds something to offer. */
    private Page nextPage(List<Integer> healthy) throws SQLException, InterruptedException {
        Optional<Page> read = ahead.take();
        boolean isUsable =
                read.isPresent()
                        && !read.get().fetched().isEmpty()
                        && healthy.containsAll(read.get().buckets());
        return isUsable ? read.get() : fetch(healthy, options.batch());
    }

    /** Buckets without an event in the page, so that nothing of its fate can matter to theirs. */
    private static List<Integer> others(List<Integer> healthy, Page page) {
        Set<Integer> taken = new TreeSet<>();
        page.fetched().ready().forEach(event -> taken.add(event.bucket()));
        page.fetched().behind().forEach(event -> taken.add(event.bucket()));
        page.fetched().due().forEach(due -> taken.add(due.bucket()));
        return healthy.stream().filter(bucket -> !taken.contains(bucket)).toList();
    }

    /** A third of the lease is the rhythm; a bucket is given up before it could be taken. */
    private void keep() throws SQLException {
        long now = System.nanoTime();
        long age = now - keptAt;
        if (age < options.lease().toNanos() / 3
                && (!held.isEmpty() || age < options.poll().toNanos())) {
            return;
        }
        Map<Integer, Long> before = held;
        Map<Integer, Long> after =
                Transaction.within(
                        begin(),
                        tx -> {
                            Map<Integer, Long> kept = leases.keep(tx.connection(), before);
                            tx.commit();
                            return kept;
                        });
        long lost =
                age < options.lease().toNanos()
                        ? 0
                        : before.entrySet().stream()
                                .filter(
                                        lease ->
                                                !lease.getValue().equals(after.get(lease.getKey())))
                                .count();
        if (lost > 0) {
            leasesLost.addAndGet(lost);
            log.warn("the relay was not heard of for its lease and lost {} buckets", lost);
        }
        held = Collections.unmodifiableMap(new TreeMap<>(after));
        keptAt = now;
    }

    void leave() {
        ahead.forget();
        if (held.isEmpty()) {
            return;
        }
        try {
            Transaction.within(
                    begin(),
                    tx -> {
                        int left = leases.leave(tx.connection(), held.keySet());
                        tx.commit();
                        return left;
                    });
        } catch (SQLException | RuntimeException e) {
            log.warn(
                    "the relay could not give its buckets back; they are free when its lease ends");
        }
        held = Map.of();
        keptAt = System.nanoTime() - options.lease().toNanos();
    }

    /** Begins where the last batch ended: what it emptied has only dead rows to read through. */
    private List<Integer> rotated(List<Integer> buckets) {
        var order = new ArrayList<>(buckets);
        long before = order.stream().filter(bucket -> bucket < next).count();
        Collections.rotate(order, (int) -before);
        return order;
    }

    /** A bucket that fills whole batches must not keep the others waiting. */
    private void moveOn(List<Integer> order, List<StoredEvent> batch) {
        int last = batch.stream().mapToInt(event -> order.indexOf(event.bucket())).max().orElse(0);
        next = last == 0 ? order.get(0) + 1 : order.get(last);
    }

    private Transaction begin() throws SQLException {
        return Transaction.begin(setup.dataSource(), transaction, Deadline.after(options.lease()));
    }

    private int offer(Page page) throws SQLException, InterruptedException {
        Fetched fetched = page.fetched();
        fetchedUnder = page.under();
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
            moved += publish(fetched.ready(), Optional.empty());
        }
        for (Due due : fetched.due()) {
            if (!due.events().isEmpty()) {
                StoredEvent head = due.events().get(0);
                boolean alone =
                        head.attempts() > 0 || suspects.containsKey(head.event().delivery().id());
                List<StoredEvent> batch = alone ? List.of(head) : due.events();
                boolean last = batch.size() == due.events().size();
                moved += publish(batch, last ? Optional.of(due) : Optional.empty());
            }
        }
        return moved;
    }

    private Page fetch(List<Integer> buckets, int limit) throws SQLException {
        var fetched = new Fetched[1];
        Map<Integer, Long> under = held;
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

    private int publish(List<StoredEvent> batch, Optional<Due> emptied)
            throws SQLException, InterruptedException {
        if (isOverrun()) {
            return 0;
        }
        keep(); // a call must not begin with an old lease
        List<Integer> buckets = batch.stream().map(StoredEvent::bucket).distinct().toList();
        List<StoredEvent> ours =
                batch.stream().filter(event -> isStillHeld(event.bucket())).toList();
        if (ours.isEmpty()) {
            return 0;
        }
        List<PublishResult> results;
        try {
            results = calls.publish(ours.stream().map(StoredEvent::event).toList());
        } catch (Calls.CallFailedException e) {
            failedCalls.incrementAndGet();
            log.warn("a call with {} events came to nothing: {}", ours.size(), e.getMessage());
            return failedCall(ours, buckets, e);
        }
        if (results.stream().anyMatch(r -> r.kind() == PublishResult.Kind.PUBLISHED)) {
            lastSuccess = System.nanoTime();
        }
        health.succeeded(buckets);
        return answered(ours, results, emptied);
    }

    /**
     * False also for a bucket that was lost and taken again: others may have been at work there.
     */
    private boolean isStillHeld(int bucket) {
        Long token = held.get(bucket);
        return token != null && token.equals(fetchedUnder.get(bucket));
    }

    /** Charges nobody, unless the event was alone and others have succeeded since it last was. */
    private int failedCall(List<StoredEvent> batch, List<Integer> buckets, Exception failure)
            throws SQLException {
        health.failed(buckets, batch.size());
        if (batch.size() > 1) {
            return 0;
        }
        StoredEvent event = batch.get(0);
        UUID id = event.event().delivery().id();
        Suspect known = suspects.get(id);
        boolean guilty = known != null && lastSuccess - known.lastFailure() > 0;
        int failures = known == null ? 1 : known.failures() + 1;
        suspects.put(id, new Suspect(failures, System.nanoTime()));
        Failure set =
                guilty
                        ? charged(event, String.valueOf(failure.getMessage()))
                        : new Failure(
                                event,
                                event.attempts(),
                                String.valueOf(failure.getMessage()),
                                jittered(options.backoff(failures)));
        settle(List.of(), List.of(set), List.of(), List.of());
        if (guilty) {
            health.isolated(event.bucket());
        }
        return 0;
    }

    private Failure charged(StoredEvent event, String error) {
        int attempts = event.attempts() + 1;
        failed.incrementAndGet();
        if (attempts < options.attempts()) {
            return new Failure(event, attempts, error, jittered(options.backoff(attempts)));
        }
        dead.incrementAndGet();
        suspects.remove(event.event().delivery().id());
        log.error(
                "an event of type {} failed {} times and is a dead letter now",
                event.event().type(),
                attempts);
        return new Failure(event, attempts, error, null);
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
                case FAILED -> failures.add(charged(event, results.get(i).error().orElse("")));
                case NOT_TRIED -> {}
            }
        }
        ready.forEach(event -> suspects.remove(event.event().delivery().id()));
        waiting.forEach(event -> suspects.remove(event.event().delivery().id()));
        int marked = 0;
        try {
            marked += ready.isEmpty() ? 0 : mark(ready);
            if (!waiting.isEmpty() || !failures.isEmpty()) {
                List<Due> done =
                        emptied.filter(due -> failures.isEmpty()).map(List::of).orElse(List.of());
                marked += settle(waiting, failures, List.of(), done);
            }
        } finally { // a mark that was lost on its way counts too
            published.addAndGet(marked);
            unmarked.addAndGet(ready.size() + waiting.size() - marked);
        }
        return marked;
    }

    private int mark(List<StoredEvent> events) throws SQLException {
        var count = new int[1];
        Map<Integer, Long> tokens = tokens(buckets(events));
        Transaction.within(
                Transaction.begin(
                        setup.dataSource(),
                        transaction,
                        Deadline.after(options.lease()),
                        (connection, settings) -> {
                            count[0] = store.markPublished(connection, settings, tokens, events);
                            return "one statement";
                        }),
                tx -> {
                    tx.commit((connection, mark) -> connection.commit());
                    return 0;
                });
        return count[0];
    }

    private int settle(
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
                begin(),
                tx -> {
                    int marked = store.settle(tx.connection(), tokens(buckets), settlement);
                    tx.commit();
                    return marked;
                });
    }

    private static Set<Integer> buckets(List<StoredEvent> events) {
        return events.stream().map(StoredEvent::bucket).collect(Collectors.toSet());
    }

    private Map<Integer, Long> tokens(Set<Integer> buckets) {
        var tokens = new TreeMap<>(held);
        tokens.keySet().retainAll(buckets);
        return tokens;
    }
}
