package io.onlyonce.torture;

import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.outbox.OutboxEvent;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** The business of a history: accounts, transfers, a projection; and what a broker has received. */
final class Ledger {

    /** In every statement of a work, so that a proxy knows it. */
    static final String MARK = "/* torture_work */ ";

    /** No table has a constraint that could help the library to do a thing once. */
    static final String TABLES =
            """
            CREATE TABLE account (tenant text, id text, balance bigint, version bigint, PRIMARY KEY (tenant, id));
            CREATE TABLE effect (tenant text, command_id text, attempt text, account text, delta bigint, version bigint);
            CREATE INDEX ON effect (tenant);
            CREATE TABLE refused (tenant text, command_id text, attempt text);
            CREATE INDEX ON refused (tenant);
            CREATE TABLE broker (pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text, event_id text,
                event_key text, account text, version bigint, payload bytea);
            CREATE INDEX ON broker (tenant, pos);
            CREATE TABLE projection (tenant text, id text, balance bigint, PRIMARY KEY (tenant, id));
            CREATE TABLE seen (tenant text, event_id text);
            CREATE INDEX ON seen (tenant);
            CREATE TABLE late_refusal (state text);
            CREATE FUNCTION torture_raise(state text) RETURNS void LANGUAGE plpgsql AS $$
                BEGIN RAISE EXCEPTION USING ERRCODE = state, MESSAGE = 'planned'; END $$;
            CREATE FUNCTION refuse_late() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM torture_raise(NEW.state); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER refuse_late AFTER INSERT ON late_refusal
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_late();
            """;

    /** How many events of a database are not published yet. The only question of this kind. */
    static final String UNPUBLISHED =
            "SELECT count(*) FROM onlyonce.outbox_event WHERE state NOT IN (1, 2, 4)";

    private Ledger() {}

    static void open(Connection connection, List<String> tenants) throws SQLException {
        try (var accounts =
                        connection.prepareStatement(
                                "INSERT INTO account SELECT t, a, ?, 0 FROM unnest(?::text[]) t,"
                                        + " unnest(?::text[]) a");
                var projections =
                        connection.prepareStatement(
                                "INSERT INTO projection SELECT t, a, ? FROM unnest(?::text[]) t,"
                                        + " unnest(?::text[]) a")) {
            for (PreparedStatement statement : List.of(accounts, projections)) {
                statement.setLong(1, Plan.OPENING_BALANCE);
                statement.setArray(2, connection.createArrayOf("text", tenants.toArray()));
                statement.setArray(3, connection.createArrayOf("text", Plan.ACCOUNTS.toArray()));
                statement.execute();
            }
        }
    }

    /**
     * Moves money, writes down who did it, and says no if there is too little, after it has
     * written: what a "no" leaves behind must be nothing. Accounts are taken in the transfer's
     * order, so that transfers deadlock.
     */
    static List<OutboxEvent> move(
            Connection connection,
            String tenant,
            Plan.Transfer transfer,
            int amount,
            String attempt)
            throws SQLException {
        long credited = change(connection, tenant, transfer.to(), amount);
        effect(connection, tenant, transfer.id(), attempt, transfer.to(), amount, credited);
        long debited = change(connection, tenant, transfer.from(), -amount);
        effect(connection, tenant, transfer.id(), attempt, transfer.from(), -amount, debited);
        try (var statement =
                connection.prepareStatement(
                        MARK + "SELECT balance FROM account WHERE tenant = ? AND id = ?")) {
            statement.setString(1, tenant);
            statement.setString(2, transfer.from());
            try (var row = statement.executeQuery()) {
                row.next();
                if (row.getLong("balance") < 0) {
                    throw new CommandRejectedException("TOO_LITTLE", attempt);
                }
            }
        }
        return List.of(
                event(transfer.id(), attempt, transfer.to(), amount, credited),
                event(transfer.id(), attempt, transfer.from(), -amount, debited));
    }

    /** Keys are the same in all tenants: only the tenant tells them apart. */
    static OutboxEvent event(
            String commandId, String attempt, String account, long delta, long version) {
        byte[] payload = (delta + " " + attempt).getBytes(StandardCharsets.UTF_8);
        return OutboxEvent.of(
                        "moved:" + commandId + ":" + account, "Account", account, "Moved", payload)
                .withVersion(version);
    }

    private static long change(Connection connection, String tenant, String account, long delta)
            throws SQLException {
        try (var statement =
                connection.prepareStatement(
                        MARK
                                + "UPDATE account SET balance = balance + ?, version = version + 1"
                                + " WHERE tenant = ? AND id = ? RETURNING version")) {
            statement.setLong(1, delta);
            statement.setString(2, tenant);
            statement.setString(3, account);
            try (var row = statement.executeQuery()) {
                row.next();
                return row.getLong("version");
            }
        }
    }

    private static void effect(
            Connection connection,
            String tenant,
            String commandId,
            String attempt,
            String account,
            long delta,
            long version)
            throws SQLException {
        try (var statement =
                connection.prepareStatement(
                        MARK + "INSERT INTO effect VALUES (?, ?, ?, ?, ?, ?)")) {
            statement.setString(1, tenant);
            statement.setString(2, commandId);
            statement.setString(3, attempt);
            statement.setString(4, account);
            statement.setLong(5, delta);
            statement.setLong(6, version);
            statement.executeUpdate();
        }
    }

    static void refused(Connection connection, String tenant, String commandId, String attempt)
            throws SQLException {
        execute(connection, "INSERT INTO refused VALUES (?, ?, ?)", tenant, commandId, attempt);
    }

    /** The consumer's half: the projection follows, and every run of the work leaves a row. */
    static void project(
            Connection connection, String tenant, String account, long delta, String eventId)
            throws SQLException {
        try (var statement =
                connection.prepareStatement(
                        MARK
                                + "UPDATE projection SET balance = balance + ? WHERE tenant = ? AND"
                                + " id = ?")) {
            statement.setLong(1, delta);
            statement.setString(2, tenant);
            statement.setString(3, account);
            statement.executeUpdate();
        }
        execute(connection, "INSERT INTO seen VALUES (?, ?)", tenant, eventId);
    }

    static void execute(Connection connection, String sql, String... values) throws SQLException {
        try (var statement = connection.prepareStatement(MARK + sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setString(i + 1, values[i]);
            }
            statement.execute();
        }
    }
}
