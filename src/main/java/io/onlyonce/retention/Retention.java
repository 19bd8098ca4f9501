package io.onlyonce.retention;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.retention.PurgeReport.End;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.TransactionOptions;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Removes what has served its time: forgotten commands, processed messages, events that were
 * published or discarded; never what is in flight, unexpired, unresolved, unpublished or a dead
 * letter.
 *
 * <p>All times are compared on the database's clock. Rows go in chunks, each a transaction of its
 * own that waits for nobody and holds its rows no longer than a bound; what others hold is left to
 * the next run. One runner works at a time, in all processes together; a second one finds out at
 * once and ends. A run that is stopped or killed loses nothing: the next one goes on.
 *
 * <p>Either {@link #start} it, which runs a daemon thread, or call {@link #runOnce} from a
 * scheduler of your own. Thread-safe.
 */
public final class Retention implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Retention.class);

    private static final Duration READ = Duration.ofMinutes(1);
    private static final Duration LONGEST_RUN = Duration.ofHours(1);
    private static final Duration CLOSE = Duration.ofSeconds(10);
    private static final long COUNTED = 10_000;

    private final RelaySetup setup;
    private final RetentionOptions options;
    private final List<Step> steps;
    private final CountDownLatch stopped = new CountDownLatch(1);
    private Thread thread = new Thread(() -> {});

    private Retention(RelaySetup setup, RetentionOptions options) {
        this.setup = setup;
        this.options = options;
        steps =
                Rule.of(options, setup.database()).stream()
                        .map(rule -> Step.of(rule, options, setup.database(), setup.schema()))
                        .toList();
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a RelaySetup
    public static Retention of(RelaySetup setup, RetentionOptions options) {
        return new Retention(setup, Objects.requireNonNull(options, "options"));
    }

    /**
     * Removes all that is due, or as much as the time allows.
     *
     * @throws SQLException if the database fails; what earlier chunks removed stays removed
     */
    public PurgeReport runOnce(Duration deadline) throws SQLException {
        return runOnce(deadline, progress -> {});
    }

    /** The same; after every chunk it is told what has been done so far. */
    public PurgeReport runOnce(Duration deadline, Consumer<PurgeReport> progress)
            throws SQLException {
        Objects.requireNonNull(progress, "progress");
        var end = Deadline.after(Objects.requireNonNull(deadline, "deadline"));
        var tally = new Tally();
        PurgeReport report;
        try {
            report = tally.report(sweep(end, tally, progress), countLeft());
        } catch (SQLException e) {
            throw explained(e);
        }
        if (report.total() > 0) {
            log.info("retention: {}", Tally.say(report));
        } else {
            log.debug("retention: {}", Tally.say(report));
        }
        return report;
    }

    private End sweep(Deadline end, Tally tally, Consumer<PurgeReport> progress)
            throws SQLException {
        Deque<Sweep> sweeps = new ArrayDeque<>();
        steps.forEach(step -> sweeps.add(new Sweep(step, setup, options.lockBound())));
        while (!sweeps.isEmpty()) {
            if (isStopped()) {
                return End.STOPPED;
            }
            if (end.passed()) {
                return End.DEADLINE;
            }
            Sweep sweep = sweeps.remove(); // in turn, so that no table waits for another
            Sweep.Chunk chunk = sweep.chunk();
            if (chunk.state() == Sweep.State.ELSEWHERE) {
                return End.ELSEWHERE;
            }
            tally.add(sweep.rule().kind(), chunk.taken());
            tell(sweep.rule(), chunk.taken().rows());
            if (chunk.state() == Sweep.State.MORE) {
                sweeps.add(sweep);
                progress.accept(tally.report(End.NOT_YET, 0));
                rest(chunk.took(), end);
            }
        }
        return End.DONE;
    }

    /** Between chunks, without a connection or a lock in hand; who blocks here blocks this run. */
    private void tell(Rule rule, long rows) {
        if (rows > 0 && rule.set().isEmpty()) {
            setup.observer().tell(listener -> listener.purged(rule.table(), rows));
        }
    }

    private boolean isStopped() {
        return stopped.getCount() == 0 || Thread.currentThread().isInterrupted();
    }

    /** Three times as long as the chunk took: three quarters of the time belong to the traffic. */
    private void rest(Duration took, Deadline end) {
        long rest = took.multipliedBy(3).toNanos();
        try {
            stopped.await(
                    Math.min(rest, end.remaining().orElse(Duration.ZERO).toNanos()),
                    TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // seen before the next chunk
        }
    }

    /** What a run would do now, counted in full; changes nothing. */
    public PurgeReport preview() throws SQLException {
        var tally = new Tally();
        try {
            read(
                    connection -> {
                        for (Step step : steps) {
                            long due = step.due(connection, Long.MAX_VALUE);
                            tally.add(step.rule().kind(), new Step.Taken(due, 0));
                        }
                        return 0L;
                    });
        } catch (SQLException e) {
            throw explained(e);
        }
        PurgeReport due = tally.report(End.NOT_YET, 0);
        return tally.report(End.NOT_YET, due.total());
    }

    /**
     * How long the row that has waited longest could have been gone; zero if nothing is due. Asks
     * for the first row of each table, on the database's clock; whoever runs retention, and whether
     * anybody does.
     */
    public Duration lag() throws SQLException {
        try {
            return read(
                    connection -> {
                        Duration longest = Duration.ZERO;
                        for (Step step : steps) {
                            Duration lag = step.lag(connection);
                            longest = lag.compareTo(longest) > 0 ? lag : longest;
                        }
                        return longest;
                    });
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    private long countLeft() throws SQLException {
        return read(
                connection -> {
                    long left = 0;
                    for (Step step : steps) {
                        left += step.due(connection, COUNTED);
                    }
                    return left;
                });
    }

    private <T> T read(Transaction.Read<T> read) throws SQLException {
        TransactionOptions base = TransactionOptions.readCommitted();
        return Transaction.read(
                setup.dataSource(),
                setup.poolAutoCommitOff() ? base.poolAutoCommitOff() : base,
                Deadline.after(READ),
                read);
    }

    /** Without ids; and missing tables are said to be missing. */
    private SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(setup.schema().value());
        }
        return SqlState.withoutDetail(e);
    }

    /**
     * Starts a daemon thread that runs about this often, at once for the first time; does nothing
     * if it runs already. Several processes may do so: each run is one runner's.
     */
    public synchronized void start(Duration every) {
        if (every.compareTo(Duration.ofMillis(10)) < 0) {
            throw new IllegalArgumentException("every must be at least 10 milliseconds.");
        }
        if (stopped.getCount() == 0) {
            throw new IllegalStateException("Retention was stopped; make a new one.");
        }
        if (!thread.isAlive()) {
            thread = new Thread(() -> loop(every), "onlyonce-retention");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void loop(Duration every) {
        do {
            try {
                runOnce(LONGEST_RUN);
            } catch (SQLException | RuntimeException | Error e) { // nobody would start it again
                log.warn("a run of retention failed and is tried again: {}", e.toString());
            }
        } while (!isStopped() && !isOver(every));
    }

    /** Jitter, or the processes of a deployment would all ask at once. */
    private boolean isOver(Duration every) {
        long nanos = every.toNanos();
        try {
            return stopped.await(
                    nanos - nanos / 10 + ThreadLocalRandom.current().nextLong(nanos / 5 + 1),
                    TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return true;
        }
    }

    /**
     * Stops for good, after the chunk that is under way, runs of other threads included.
     *
     * @return true if the daemon thread had ended by the deadline
     */
    public boolean stop(Duration deadline) throws InterruptedException {
        stopped.countDown();
        Thread running;
        synchronized (this) {
            running = thread;
        }
        if (running != Thread.currentThread()) {
            running.join(Math.max(1, deadline.toMillis()));
        }
        return !running.isAlive();
    }

    /** Stops within ten seconds. */
    @Override
    public void close() {
        try {
            stop(CLOSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
