package io.onlyonce.command;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

/** A small business to run commands in: a balance, and one audit row for each deposit. */
final class Bank {

    static final CommandScope SCOPE = new CommandScope("acme", "teller", "account.deposit");

    private Bank() {}

    /** Our tables and the bank's, in a fresh database. */
    static void open(TestDatabase db) throws SQLException {
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE account (id varchar(80) PRIMARY KEY, balance bigint NOT NULL)");
        db.execute("CREATE TABLE audit (command varchar(255) NOT NULL, what varchar(80) NOT NULL)");
    }

    static OnlyOnce once(DataSource dataSource) throws SQLException {
        return OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
    }

    static Command command(String id) {
        return command(id, "{\"amount\":10,\"note\":\"" + Markers.MARK + "\"}");
    }

    static Command command(String id, String json) {
        return Command.of(SCOPE, id, PayloadHash.ofJson(json));
    }

    /** A new id, with a name that says what it is for. */
    static String id(String what) {
        return what + "-" + Markers.MARK + "-" + CommandIds.next();
    }

    static void deposit(Connection connection, String account, String command) throws SQLException {
        execute(connection, "UPDATE account SET balance = balance + 10 WHERE id = ?", account);
        execute(connection, "INSERT INTO audit (command, what) VALUES (?, 'deposit')", command);
    }

    static void execute(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.execute();
        }
    }

    static OutboxEvent event(String command) {
        return OutboxEvent.of(
                "deposited:" + command, "Account", "a", "Deposited", Markers.MARK.getBytes());
    }

    /** How often the work of this command is durable. */
    static long effects(TestDatabase db, String id) throws SQLException {
        return db.count("SELECT COUNT(*) FROM audit WHERE command = '" + id + "'");
    }

    static long rows(TestDatabase db, String id) throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '" + id + "'");
    }

    static long events(TestDatabase db, String id) throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.outbox_event WHERE command_id = '" + id + "'");
    }
}
