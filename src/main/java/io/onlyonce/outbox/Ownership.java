package io.onlyonce.outbox;

import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.TransactionOptions;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** The buckets that one relay holds now. A third of the lease is the rhythm. */
final class Ownership {

    private static final Logger log = LoggerFactory.getLogger(Ownership.class);

    private final RelaySetup setup;
    private final RelayOptions options;
    private final TransactionOptions transaction;
    private final Leases leases;

    private volatile SortedMap<Integer, Long> held = Collections.emptySortedMap();
    private final AtomicLong lost = new AtomicLong();
    private long renewedAt = longAgo();
    private long sharedAt = renewedAt;
    private boolean announced; // that it lives, also if it owns nothing: others count it

    Ownership(RelaySetup setup, RelayOptions options, TransactionOptions transaction) {
        this.setup = setup;
        this.options = options;
        this.transaction = transaction;
        leases =
                new Leases(
                        setup.database(),
                        setup.schema(),
                        UUID.randomUUID().toString(),
                        options.lease());
    }

    private static long longAgo() {
        return System.nanoTime() - Duration.ofDays(1).toNanos();
    }

    /** Each bucket with the token of its lease. */
    SortedMap<Integer, Long> held() {
        return held;
    }

    /** How many leases ended before they were renewed. */
    long lost() {
        return lost.get();
    }

    /** The tokens of these buckets, as far as they are held. */
    SortedMap<Integer, Long> tokens(Collection<Integer> buckets) {
        var tokens = new TreeMap<>(held);
        tokens.keySet().retainAll(buckets);
        return tokens;
    }

    /** Renews, and gives up or takes what is its share; between batches only. */
    synchronized void share() throws SQLException {
        long age = System.nanoTime() - sharedAt;
        if (age >= rhythm() || (held.isEmpty() && age >= options.poll().toNanos())) {
            keep(true);
            sharedAt = renewedAt;
        }
    }

    /** Renews only: others of this relay's threads are at work with their buckets. */
    synchronized void renew() throws SQLException {
        if (System.nanoTime() - renewedAt >= rhythm()) {
            keep(false);
        }
    }

    private long rhythm() {
        return options.lease().toNanos() / 3;
    }

    private void keep(boolean share) throws SQLException {
        long now = System.nanoTime();
        SortedMap<Integer, Long> before = held;
        announced = true;
        SortedMap<Integer, Long> after =
                Transaction.within(
                        begin(),
                        tx -> {
                            var kept = leases.keep(tx.connection(), before, share);
                            tx.commit();
                            return kept;
                        });
        if (now - renewedAt >= options.lease().toNanos()) {
            tellLost(before, after);
        }
        held = Collections.unmodifiableSortedMap(after);
        renewedAt = now;
    }

    private void tellLost(Map<Integer, Long> before, Map<Integer, Long> after) {
        long count =
                before.entrySet().stream()
                        .filter(lease -> !lease.getValue().equals(after.get(lease.getKey())))
                        .count();
        if (count > 0) {
            lost.addAndGet(count);
            log.warn("the relay was not heard of for its lease and lost {} buckets", count);
        }
    }

    /** Gives everything back, and is not counted any more. */
    synchronized void leave() {
        if (!announced) {
            return;
        }
        announced = false;
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
        held = Collections.emptySortedMap();
        renewedAt = System.nanoTime() - options.lease().toNanos();
        sharedAt = renewedAt;
    }

    private Transaction begin() throws SQLException {
        return Transaction.begin(setup.dataSource(), transaction, Deadline.after(options.lease()));
    }
}
