package io.onlyonce.torture;

import io.onlyonce.retention.RetentionOptions;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A client's retention, at work while the histories live, and the faults that strike it. */
final class Purging {

    /** So short that rows go while others still ask about them, and are sent again afterwards. */
    static final Duration EVENTS_KEPT = Duration.ofMillis(400);

    static final Duration MESSAGES_KEPT = Duration.ofMillis(1_800);

    private static final Duration EVERY = Duration.ofMillis(200);
    private static final Duration LOCK_BOUND = Duration.ofMillis(800);
    private static final Duration PATIENCE = Duration.ofMillis(2_500);

    /** By then the server has ended the session; only then may the network come back. */
    private static final Duration SILENT = Duration.ofMillis(1_300);

    private final Client client;
    private final String name;
    private final Desk desk;
    private final ExecutorService faults = Executors.newSingleThreadExecutor();

    private Purging(Client client, String name, Desk desk) {
        this.client = client;
        this.name = name;
        this.desk = desk;
    }

    /** Purges from now on, whatever happens. */
    static Purging start(Client client, Desk.Address address) throws IOException, SQLException {
        String name = "purge_" + client.index();
        var purging = new Purging(client, name, new Desk(address.named(name), 1));
        client.build(purging.desk.pool())
                .retention(
                        RetentionOptions.standard()
                                .withEventsKept(EVENTS_KEPT)
                                .withMessagesKept(MESSAGES_KEPT)
                                .withLockBound(LOCK_BOUND))
                .start(EVERY);
        return purging;
    }

    /** One at a time, and given up if nothing is due that it could strike. */
    void meet(String tenant, Cell cell) {
        faults.execute(
                () -> {
                    try {
                        if (cell.step() == Cell.Step.CHUNK) {
                            strikeChunk(tenant, cell);
                        } else {
                            strikeTrip(tenant, cell);
                        }
                    } catch (AssertionError | SQLException e) {
                        // nothing was due, or the server is down
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    desk.proxy().pass();
                });
    }

    /** The history is over. */
    void release() {
        try {
            want("");
        } catch (SQLException e) {
            // the next one tries again
        }
        desk.proxy().release();
        desk.proxy().resetCounters();
    }

    private void strikeTrip(String tenant, Cell cell) throws InterruptedException {
        boolean cut = cell.kind() == Cell.Kind.CUT;
        desk.arm(cell.site(), cut ? cell.kind() : Cell.Kind.SILENCE, cell.step());
        desk.proxy().awaitFired(PATIENCE);
        client.fault(tenant, cell);
        if (cell.kind() == Cell.Kind.KILL) {
            client.driver().killMe();
        }
        desk.proxy().pass();
        if (!cut) {
            TimeUnit.NANOSECONDS.sleep(SILENT.toNanos());
            desk.proxy().release();
        }
    }

    /** Some rows of the chunk are gone by then and others are not. */
    private void strikeChunk(String tenant, Cell cell) throws SQLException, InterruptedException {
        want(
                switch (cell.kind()) {
                    case DISK_FULL -> "53100";
                    case DEADLOCK -> "40P01";
                    case STATEMENT_TIMEOUT -> "wait longer";
                    default -> "wait";
                });
        boolean struck = awaitStruck();
        want("");
        if (!struck) {
            return;
        }
        client.fault(tenant, cell);
        switch (cell.kind()) {
            case KILL -> client.driver().killMe();
            case FREEZE -> client.driver().freezeMe();
            case TERMINATE -> {
                try (var other = client.direct()) {
                    Ledger.execute(
                            other,
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE"
                                    + " application_name = ?",
                            name);
                }
            }
            default -> {}
        }
    }

    /** What the witness of removed rows is to do; empty for nothing. */
    private void want(String what) throws SQLException {
        try (var other = client.direct()) {
            Ledger.execute(other, "DELETE FROM purge_trouble WHERE purger = ?", name);
            if (!what.isEmpty()) {
                Ledger.execute(other, "SELECT setval('struck_" + name + "', 1, false)");
                Ledger.execute(other, "INSERT INTO purge_trouble VALUES (?, ?)", name, what);
            }
        }
    }

    private boolean awaitStruck() throws SQLException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        try (var other = client.direct();
                var statement = other.prepareStatement("SELECT is_called FROM struck_" + name)) {
            while (System.nanoTime() - end < 0) {
                try (var row = statement.executeQuery()) {
                    row.next();
                    if (row.getBoolean(1)) {
                        return true;
                    }
                }
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
        return false;
    }
}
