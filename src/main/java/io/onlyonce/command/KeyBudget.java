package io.onlyonce.command;

import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.TransactionOptions;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import javax.sql.DataSource;

/**
 * How many new ids a caller may use in a window of the database's clock. Ids are taken from the
 * database in portions of a hundredth, each in a short transaction of its own before the command's,
 * and used up here. The portions of a window are never more than the budget; what a process has
 * left of its last one when the window ends is lost.
 */
final class KeyBudget {

    private static final Logger log = LoggerFactory.getLogger(KeyBudget.class);

    private static final int SHARDS = 8;
    private static final long LARGEST_PORTION = 1_000;
    private static final int MOST_PURSES = 10_000;

    private final DataSource dataSource;
    private final KeyBudgetRows rows;
    private final long portion;
    private final long portions;
    private final int shards;
    private final ConcurrentHashMap<Caller, Purse> purses = new ConcurrentHashMap<>();
    private final AtomicLong cleaned = new AtomicLong(Long.MIN_VALUE);

    private record Caller(String tenant, String name) {}

    KeyBudget(CommandSetup setup, CommandSetup.Budget budget) {
        dataSource = setup.dataSource();
        rows = new KeyBudgetRows(setup.database(), setup.schema(), budget.window());
        portion = Math.max(1, Math.min(LARGEST_PORTION, budget.newIds() / 100));
        portions = budget.newIds() / portion;
        shards = (int) Math.min(SHARDS, portions);
    }

    /** What this process has of a caller's budget. */
    private static final class Purse {
        private final ReentrantLock lock = new ReentrantLock();
        private long window;
        private long left;
        private boolean exhausted;
        private Deadline ends = Deadline.after(Duration.ZERO);

        private void begin(KeyBudgetRows.Window now) {
            if (now.start() != window) {
                window = now.start();
                left = 0;
                exhausted = false;
            }
            ends = Deadline.after(now.left());
        }
    }

    /** Leave to use one new id, or word that there is none until later. */
    static final class Permit {

        private final Purse purse;
        private final long window;
        private final boolean granted;
        private final Duration retryAfter;

        private Permit(Purse purse, boolean granted) {
            this.purse = purse;
            this.window = purse.window;
            this.granted = granted;
            this.retryAfter = purse.ends.remaining().orElse(Duration.ZERO);
        }

        boolean isGranted() {
            return granted;
        }

        Duration retryAfter() {
            return retryAfter;
        }

        /** The id was not new, or was not used after all. */
        void giveBack() {
            if (!granted) {
                return;
            }
            purse.lock.lock();
            try {
                if (purse.window == window) {
                    purse.left++;
                }
            } finally {
                purse.lock.unlock();
            }
        }
    }

    /** Asks the database only if this process has nothing left and may have something to get. */
    Permit take(CommandScope scope, TransactionOptions options, Deadline deadline)
            throws SQLException {
        if (purses.size() > MOST_PURSES) {
            purses.clear(); // what is lost with it is less than a hundredth of each budget
        }
        var caller = new Caller(scope.tenant(), scope.caller());
        Purse purse = purses.computeIfAbsent(caller, c -> new Purse());
        purse.lock.lock();
        try {
            boolean over = purse.ends.passed();
            if (over || (purse.left == 0 && !purse.exhausted)) {
                fill(purse, caller, options, deadline);
            }
            boolean granted = purse.left > 0;
            purse.left -= granted ? 1 : 0;
            return new Permit(purse, granted);
        } finally {
            purse.lock.unlock();
        }
    }

    /** Each shard in a transaction of its own: rows that are full are locked all the same. */
    private void fill(Purse purse, Caller caller, TransactionOptions options, Deadline deadline)
            throws SQLException {
        TransactionOptions plain =
                options.isPoolAutoCommitOff()
                        ? TransactionOptions.readCommitted().poolAutoCommitOff()
                        : TransactionOptions.readCommitted();
        int first = ThreadLocalRandom.current().nextInt(shards);
        for (int i = 0; i < shards; i++) {
            int shard = (first + i) % shards;
            var row =
                    new KeyBudgetRows.Row(
                            caller.tenant(), caller.name(), shard, portion, portion * share(shard));
            KeyBudgetRows.Taken taken =
                    Transaction.within(
                            Transaction.begin(dataSource, plain, deadline),
                            tx -> {
                                KeyBudgetRows.Taken all = rows.take(tx.connection(), row);
                                tx.commit();
                                return all;
                            });
            purse.begin(taken.window());
            if (taken.granted()) {
                purse.left += portion;
                clean(taken.window(), plain, deadline);
                return;
            }
        }
        purse.exhausted = true;
    }

    /** How many portions are in this shard. */
    private long share(int shard) {
        return portions / shards + (shard < portions % shards ? 1 : 0);
    }

    /** Once in a window, by whoever comes first. */
    private void clean(KeyBudgetRows.Window now, TransactionOptions options, Deadline deadline) {
        long last = cleaned.get();
        if (last == now.start() || !cleaned.compareAndSet(last, now.start())) {
            return;
        }
        try {
            int gone =
                    Transaction.within(
                            Transaction.begin(dataSource, options, deadline),
                            tx -> {
                                int count = rows.forgetBefore(tx.connection(), now);
                                tx.commit();
                                return count;
                            });
            log.debug("{} counters of old windows removed", gone);
        } catch (SQLException | RuntimeException e) { // the next window's turn
            log.debug("counters of old windows could not be removed: {}", e.getClass().getName());
        }
    }
}
