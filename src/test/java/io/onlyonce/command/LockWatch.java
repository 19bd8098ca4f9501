package io.onlyonce.command;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Looks, as often as it can, whether anybody in a database waits for a lock. */
final class LockWatch implements AutoCloseable {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final AtomicInteger looks = new AtomicInteger();
    private final AtomicInteger seen = new AtomicInteger();
    private final FutureTask<Void> task;
    private volatile boolean over;

    /** Returns after the first look. */
    LockWatch(TestDatabase db) throws Exception {
        task = new FutureTask<>(() -> look(db));
        var thread = new Thread(task, "lock-watch");
        thread.setDaemon(true);
        thread.start();
        Await.until(DEADLINE, () -> looks.get() > 0, "somebody looked");
    }

    private Void look(TestDatabase db) throws SQLException {
        try (var connection = db.connect();
                var waits =
                        connection.prepareStatement(
                                "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                        + " current_database() AND wait_event_type = 'Lock'")) {
            while (!over) {
                try (var row = waits.executeQuery()) {
                    row.next();
                    seen.addAndGet(row.getInt(1));
                    looks.incrementAndGet();
                }
            }
        }
        return null;
    }

    /** How often somebody was seen waiting. */
    int seen() {
        return seen.get();
    }

    @Override
    public void close() throws Exception {
        over = true;
        task.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }
}
