package io.onlyonce.compare;

import com.gruelbox.transactionoutbox.Dialect;
import com.gruelbox.transactionoutbox.Instantiator;
import com.gruelbox.transactionoutbox.Persistor;
import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.ThreadLocalContextTransactionManager;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import com.gruelbox.transactionoutbox.TransactionOutboxEntry;
import com.gruelbox.transactionoutbox.TransactionOutboxListener;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

import javax.sql.DataSource;

/**
 * transaction-outbox with SKIP LOCKED, its default batch of 4,096 and several threads; logging off.
 * From its table it drains by {@code flush}; from memory it runs what a commit of the same process
 * has just handed to its submitter, which needs no reading and no second UPDATE.
 */
final class TransactionOutboxDrain implements Drain, AutoCloseable {

    static final String TABLE = "txno_outbox";

    /** What is scheduled. */
    interface Target {
        void publish(String key, String type, String aggregate, long version, String payload);
    }

    private record Held(
            TransactionOutboxEntry entry,
            java.util.function.Consumer<TransactionOutboxEntry> run) {}

    private final DataSource pool;
    private final boolean fromMemory;
    private final ExecutorService threads;
    private final ThreadLocalContextTransactionManager transactions;
    private final TransactionOutbox outbox;
    private final AtomicLong called = new AtomicLong();
    private final Semaphore succeeded = new Semaphore(0);
    private final List<Held> held = new ArrayList<>();
    private volatile boolean holding;

    TransactionOutboxDrain(DataSource pool, int workers, boolean fromMemory) {
        this.pool = pool;
        this.fromMemory = fromMemory;
        threads = Executors.newFixedThreadPool(workers);
        transactions = TransactionManager.fromDataSource(pool);
        Target target = (key, type, aggregate, version, payload) -> called.incrementAndGet();
        var parallel = Submitter.withExecutor(threads);
        outbox =
                TransactionOutbox.builder()
                        .transactionManager(transactions)
                        .persistor(Persistor.forDialect(Dialect.POSTGRESQL_9))
                        .instantiator(Instantiator.using(type -> target))
                        .submitter(
                                (entry, run) -> {
                                    if (holding) {
                                        held.add(new Held(entry, run));
                                    } else {
                                        parallel.submit(entry, run);
                                    }
                                })
                        .serializeMdc(false)
                        .listener(
                                new TransactionOutboxListener() {
                                    @Override
                                    public void success(TransactionOutboxEntry entry) {
                                        succeeded.release();
                                    }
                                })
                        .build();
    }

    @Override
    public void fill(int rows) throws SQLException {
        execute("TRUNCATE " + TABLE);
        held.clear();
        called.set(0);
        succeeded.drainPermits();
        holding = true;
        schedule(fromMemory ? rows : 1);
        holding = false;
        if (!fromMemory) { // as if their process had died: copies that have been due for a day
            held.clear();
            execute(
                    """
                    INSERT INTO txno_outbox (id, invocation, nextattempttime, attempts, blocked, version, processed)
                    SELECT gen_random_uuid()::text, invocation, now() - interval '1 day', 0, false, 0, false
                    FROM txno_outbox, generate_series(2, %d);
                    UPDATE txno_outbox SET nextattempttime = now() - interval '1 day'\
                    """
                            .formatted(rows));
        }
    }

    private void schedule(int rows) {
        transactions.inTransaction(
                () -> {
                    for (int n = 0; n < rows; n++) {
                        String payload = new String(Backlog.payload(n), StandardCharsets.UTF_8);
                        outbox.schedule(Target.class)
                                .publish(
                                        Backlog.key(n),
                                        "Deposited",
                                        Backlog.aggregate(n),
                                        n,
                                        payload);
                    }
                });
    }

    @Override
    public void drain(int rows) throws InterruptedException {
        if (fromMemory) {
            held.forEach(each -> threads.execute(() -> each.run().accept(each.entry())));
        } else {
            while (outbox.flush()) {
                // until nothing is due
            }
        }
        succeeded.acquire(rows);
        Backlog.check(rows, called.get());
    }

    private void execute(String sql) throws SQLException {
        try (var connection = pool.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
