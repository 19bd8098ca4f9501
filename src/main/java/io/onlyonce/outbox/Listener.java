package io.onlyonce.outbox;

import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.RelaySetup;

import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Wakes a relay when another process commits events; a lost connection is opened again. */
final class Listener {

    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final int BLOCK_MILLIS = 1_000;

    private final RelaySetup setup;
    private final Runnable wake;
    private final Duration pause;
    private final CountDownLatch stopped = new CountDownLatch(1);

    Listener(RelaySetup setup, Duration pause, Runnable wake) {
        if (!(setup.database() instanceof PostgreSql)) {
            throw new IllegalArgumentException(
                    "Only PostgreSQL notifies; leave listening() out, the relay polls.");
        }
        this.setup = setup;
        this.pause = pause;
        this.wake = wake;
    }

    void start() {
        var thread = new Thread(this::run, "onlyonce-listen");
        thread.setDaemon(true);
        thread.start();
    }

    /** Ends within a second; its connection is closed, not pooled, because it still listens. */
    void stop() {
        stopped.countDown();
    }

    private void run() {
        while (stopped.getCount() > 0) {
            try (Connection connection = setup.dataSource().getConnection()) {
                listen(connection);
            } catch (SQLException | RuntimeException e) {
                log.warn("the relay cannot listen and polls meanwhile: {}", e.toString());
                if (isStoppedAfter(pause)) {
                    return;
                }
            }
        }
    }

    private void listen(Connection connection) throws SQLException {
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN " + EventRows.channel(setup.schema()));
            wake.run(); // what was committed before this would not be heard of
            PGConnection driver = connection.unwrap(PGConnection.class);
            while (stopped.getCount() > 0) {
                PGNotification[] heard = driver.getNotifications(BLOCK_MILLIS);
                if (heard != null && heard.length > 0) {
                    wake.run();
                }
            }
        } finally {
            connection.abort(Runnable::run);
        }
    }

    private boolean isStoppedAfter(Duration bound) {
        try {
            return stopped.await(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return true;
        }
    }
}
