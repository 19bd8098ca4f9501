package io.onlyonce.compare;

import io.onlyonce.command.CommandIds;
import io.onlyonce.command.CommandScope;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;

/** What every variant does: one row updated, one audit row inserted, both by one trip each. */
final class Business {

    static final int ACCOUNTS = 10_000;

    static final CommandScope SCOPE = new CommandScope("acme", "checkout", "account.deposit");

    /** What is stored for replay. */
    record Receipt(String number, int account, long amount) {}

    private Business() {}

    static void create(Ground ground) throws SQLException {
        ground.execute("CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL)");
        ground.execute(
                "CREATE TABLE audit (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, command_id"
                        + " text NOT NULL, account int NOT NULL, amount bigint NOT NULL)");
        ground.execute(
                "INSERT INTO account SELECT n, 0 FROM generate_series(0, "
                        + (ACCOUNTS - 1)
                        + ") AS n");
        ground.execute("VACUUM ANALYZE account");
    }

    static void post(Connection connection, String id, int account) throws SQLException {
        try (var update =
                connection.prepareStatement(
                        "UPDATE account SET balance = balance + ? WHERE id = ?")) {
            update.setLong(1, 10);
            update.setInt(2, account);
            update.executeUpdate();
        }
        try (var insert =
                connection.prepareStatement(
                        "INSERT INTO audit (command_id, account, amount) VALUES (?, ?, ?)")) {
            insert.setString(1, id);
            insert.setInt(2, account);
            insert.setLong(3, 10);
            insert.executeUpdate();
        }
    }

    static byte[] payload(int account) {
        return "{\"account\":%d,\"amount\":\"10.00\",\"currency\":\"EUR\",\"note\":\"a deposit\"}"
                .formatted(account)
                .getBytes(StandardCharsets.UTF_8);
    }

    static String id() {
        return CommandIds.next();
    }

    /** An account of this worker's own, so that workers never meet on a row. */
    static int account(int worker, int workers) {
        int share = ACCOUNTS / workers;
        return worker * share + ThreadLocalRandom.current().nextInt(share);
    }
}
