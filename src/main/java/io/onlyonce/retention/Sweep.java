package io.onlyonce.retention;

import io.onlyonce.retention.Step.Range;
import io.onlyonce.retention.Step.Taken;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * One step's way through its table in one run. It goes on where the last chunk ended, because rows
 * that were just removed lie in the index until a vacuum; what was skipped is left to the next run.
 */
final class Sweep {

    /** Where it begins, and the most: larger chunks are faster, and commands beside them slower. */
    private static final int LARGEST = 1_000;

    private static final int SMALL = 100;
    private static final Duration TRANSACTION = Duration.ofSeconds(30);

    /** What a chunk came to. */
    record Chunk(State state, Taken taken, Duration took) {

        static Chunk without(State state) {
            return new Chunk(state, new Taken(0, 0), Duration.ZERO);
        }
    }

    enum State {
        MORE,
        DONE,
        /** Another runner is at work. */
        ELSEWHERE
    }

    private final Step step;
    private final RelaySetup setup;
    private final Duration bound;
    private final TransactionOptions transaction;
    private @Nullable OffsetDateTime position;
    private int size = LARGEST;

    Sweep(Step step, RelaySetup setup, Duration bound) {
        this.step = step;
        this.setup = setup;
        this.bound = bound;
        TransactionOptions base = TransactionOptions.readCommitted();
        transaction = setup.poolAutoCommitOff() ? base.poolAutoCommitOff() : base;
    }

    static long lockKey(RelaySetup setup) {
        return Fingerprint.of("onlyonce/1", setup.schema().value(), "retention").toLong();
    }

    Rule rule() {
        return step.rule();
    }

    /** Takes the next rows in a transaction of their own: all of them, or none. */
    Chunk chunk() throws SQLException {
        try {
            return Transaction.within(
                    Transaction.begin(setup.dataSource(), transaction, Deadline.after(TRANSACTION)),
                    this::chunk);
        } catch (SQLException e) {
            if (size > 1 && SqlState.is(SqlState.QUERY_CANCELED, e)) { // held its rows too long
                size = Math.max(1, size / 4);
                return new Chunk(State.MORE, new Taken(0, 0), bound);
            }
            throw e;
        }
    }

    private Chunk chunk(Transaction tx) throws SQLException {
        if (!step.tryLock(tx.connection(), lockKey(setup))) {
            return Chunk.without(State.ELSEWHERE);
        }
        Optional<Range> range = step.next(tx.connection(), position, size);
        if (range.isEmpty()) {
            return Chunk.without(State.DONE);
        }
        // A single row is taken however long it lasts, or it would stay for ever.
        step.limit(tx.connection(), size > 1 ? bound.toMillis() : TRANSACTION.toMillis());
        long start = System.nanoTime();
        Taken taken = step.take(tx.connection(), range.get(), size);
        long taking = System.nanoTime() - start; // fewer rows would not shorten the commit
        tx.commit();
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        position = range.get().last();
        adapt(taking, taken.rows() == size);
        // A chunk of which everything is in somebody's hands would be found again and again.
        return new Chunk(taken.rows() == 0 ? State.DONE : State.MORE, taken, took);
    }

    /**
     * Aims at a sixtieth of the bound, so that who waits for a row or a core waits shortly; but on
     * a slow server a chunk that is small already may take half of it, or retention would crawl.
     */
    private void adapt(long nanos, boolean isFull) {
        if (nanos > bound.toNanos() / (size > SMALL ? 60 : 2)) {
            size = Math.max(size > SMALL ? SMALL : 1, size / 2);
        } else if (isFull) {
            size = Math.min(LARGEST, size + size / 2 + 1);
        }
    }
}
