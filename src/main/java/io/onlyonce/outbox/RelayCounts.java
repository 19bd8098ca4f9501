package io.onlyonce.outbox;

import io.onlyonce.observe.ObservedRelay;
import io.onlyonce.sql.Observer;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** What one relay has done so far, and what of it the listener was told. */
final class RelayCounts {

    private static final ObservedRelay NOTHING = new ObservedRelay(0, 0, 0, 0, 0, 0);

    final AtomicLong published = new AtomicLong();
    final AtomicLong failed = new AtomicLong();
    final AtomicLong dead = new AtomicLong();
    final AtomicLong failedCalls = new AtomicLong();
    final AtomicLong unmarked = new AtomicLong();
    private final AtomicReference<RelayStats> told =
            new AtomicReference<>(new RelayStats(0, 0, 0, 0, 0, 0, 0, 0));

    RelayStats with(Ownership owned, Calls calls) {
        return new RelayStats(
                published.get(),
                failed.get(),
                dead.get(),
                failedCalls.get(),
                unmarked.get(),
                owned.lost(),
                owned.held().size(),
                calls.abandoned());
    }

    /** Tells the listener what has happened since it was last told. */
    void tell(Observer observer, RelayStats now) {
        RelayStats before = told.getAndSet(now);
        var since =
                new ObservedRelay(
                        now.published() - before.published(),
                        now.failed() - before.failed(),
                        now.dead() - before.dead(),
                        now.failedCalls() - before.failedCalls(),
                        now.unmarked() - before.unmarked(),
                        now.leasesLost() - before.leasesLost());
        if (!since.equals(NOTHING)) {
            observer.tell(listener -> listener.relayed(since));
        }
    }
}
