package io.onlyonce.torture;

import io.onlyonce.command.CommandRejectedException;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The fault of one call: strikes once, at its step, and is written down when it does. */
final class Trouble {

    private static final String NONE = "";

    private final Client client;
    private final String tenant;
    private final Cell cell;
    private boolean struck;

    Trouble(Client client, String tenant, Cell cell) {
        this.client = client;
        this.tenant = tenant;
        this.cell = cell;
    }

    private boolean isOf(Cell.Kind... kinds) {
        for (Cell.Kind kind : kinds) {
            if (cell.kind() == kind) {
                return true;
            }
        }
        return false;
    }

    /** Sets up what strikes from outside the work. */
    void begin() {
        boolean atTrip = cell.step().isRequest() || cell.step().isAnswer();
        if (isOf(Cell.Kind.CUT, Cell.Kind.SILENCE, Cell.Kind.DELAY)) {
            client.desk().arm(cell.site(), cell.kind(), cell.step());
        } else if (isOf(Cell.Kind.KILL) && atTrip) {
            Desk desk = client.desk();
            desk.arm(cell.site(), Cell.Kind.SILENCE, cell.step());
            var watch = new Thread(() -> killWhenFired(desk), "killer");
            watch.setDaemon(true);
            watch.start();
        }
        reached(Cell.Step.BEFORE_CLAIM);
    }

    private void killWhenFired(Desk desk) {
        try {
            desk.proxy().awaitFired(Duration.ofSeconds(3));
        } catch (AssertionError | IllegalStateException | InterruptedException e) {
            return; // a replay has no COMMIT
        }
        strike();
        client.driver().killMe();
    }

    /** Looks whether it has struck, after the call has its answer. */
    void end() {
        reached(Cell.Step.AFTER_COMMIT);
        if (isOf(Cell.Kind.DELAY)
                || (isOf(Cell.Kind.CUT, Cell.Kind.SILENCE) && client.desk().proxy().hasFired())) {
            strike();
        }
        client.desk().proxy().pass();
    }

    private void strike() {
        struck = true;
        client.fault(tenant, cell);
    }

    /** A place without a connection of the work's. */
    private void reached(Cell.Step step) {
        if (!struck && cell.step() == step && isOf(Cell.Kind.KILL)) {
            strike();
            client.driver().killMe();
        }
    }

    /** A place in the work; may throw what the fault throws. */
    void reached(Cell.Step step, Connection connection) throws SQLException {
        boolean late =
                step == Cell.Step.BEFORE_FINISH
                        && cell.step() == Cell.Step.COMMIT_REQUEST
                        && isOf(
                                Cell.Kind.REFUSED_COMMIT,
                                Cell.Kind.SERIALIZATION,
                                Cell.Kind.DISK_FULL);
        boolean again = struck && !cell.isMisuse(); // every attempt of a mistaken call is one
        if (again || (cell.step() != step && !late)) {
            return;
        }
        if (!struck) {
            strike();
        }
        switch (cell.kind()) {
            case KILL -> client.driver().killMe();
            case FREEZE -> client.driver().freezeMe();
            case TERMINATE -> terminate(connection);
            case STATEMENT_TIMEOUT -> timeOut(connection);
            case TIMEOUT_THEN_NO -> timeOutThenNo(connection);
            case SWALLOWED_ERROR -> swallow(connection);
            case LOCK_TIMEOUT -> lockTimeout(connection);
            case DEADLOCK -> deadlock(connection);
            case SERIALIZATION -> {
                if (late) {
                    refuseLate(connection, "40001");
                } else {
                    collide(connection);
                }
            }
            case REFUSED_COMMIT -> refuseLate(connection, "23514");
            case DISK_FULL -> {
                if (late) {
                    refuseLate(connection, "53100");
                } else {
                    Ledger.execute(connection, "SELECT torture_raise('53100')");
                }
            }
            case SAYS_COMMIT -> Ledger.execute(connection, "COMMIT");
            default -> {}
        }
    }

    private void refuseLate(Connection connection, String state) throws SQLException {
        Ledger.execute(connection, "INSERT INTO late_refusal VALUES (?)", state);
    }

    private void terminate(Connection connection) throws SQLException {
        int pid = connection.unwrap(org.postgresql.PGConnection.class).getBackendPID();
        try (var other = client.direct()) {
            Ledger.execute(other, "SELECT pg_terminate_backend(" + pid + ", 2000)");
        }
    }

    private static void timeOut(Connection connection) throws SQLException {
        Ledger.execute(connection, "SET LOCAL statement_timeout = 15");
        Ledger.execute(connection, "SELECT pg_sleep(2)");
    }

    private static void timeOutThenNo(Connection connection) throws SQLException {
        try {
            timeOut(connection);
        } catch (SQLException e) {
            throw new CommandRejectedException("TOO_SLOW", NONE);
        }
    }

    private static void swallow(Connection connection) {
        try {
            Ledger.execute(connection, "SELECT 1 / 0");
        } catch (SQLException e) {
            // the bug that is simulated
        }
    }

    private void lockTimeout(Connection connection) throws SQLException {
        try (var other = client.direct()) {
            other.setAutoCommit(false);
            Ledger.execute(other, "LOCK TABLE late_refusal IN SHARE MODE");
            Ledger.execute(connection, "SET LOCAL lock_timeout = 15");
            Ledger.execute(connection, "INSERT INTO late_refusal VALUES ('23514')");
        }
    }

    /** The work holds its accounts and wants a lock of somebody who wants the accounts. */
    private void deadlock(Connection connection) throws SQLException {
        String lock = "SELECT pg_advisory_xact_lock(hashtext(?), 1)";
        var holds = new CountDownLatch(1);
        var other = new Thread(() -> wantAccounts(lock, holds), "other");
        other.setDaemon(true);
        other.start();
        try {
            if (holds.await(3, TimeUnit.SECONDS)) {
                Ledger.execute(connection, "SET LOCAL deadlock_timeout = '40ms'");
                Ledger.execute(connection, lock, tenant);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void wantAccounts(String lock, CountDownLatch holds) {
        try (var other = client.direct()) {
            other.setAutoCommit(false);
            Ledger.execute(other, "SET LOCAL deadlock_timeout = '150ms'");
            Ledger.execute(other, lock, tenant);
            holds.countDown();
            Ledger.execute(other, "UPDATE account SET balance = balance WHERE tenant = ?", tenant);
            other.rollback();
        } catch (SQLException e) {
            // one of the two is chosen
        }
    }

    /** Somebody else changes and commits what this snapshot has read. */
    private void collide(Connection connection) throws SQLException {
        try (var other = client.direct()) {
            Ledger.execute(
                    other, "UPDATE projection SET balance = balance WHERE tenant = ?", tenant);
        }
        Ledger.execute(
                connection, "UPDATE projection SET balance = balance WHERE tenant = ?", tenant);
    }
}
