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
            CREATE TABLE effect (tenant text, command_id text, attempt text, account text, delta bigint, version bigint,
                at timestamptz DEFAULT clock_timestamp());
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

    /**
     * Every row that is removed is written down with the server's time, and who removed it: what
     * the checker knows of purges. In the middle of a chunk this may wait or fail, where a client
     * has asked for that; a sequence tells it so, whatever becomes of the transaction.
     */
    static final String WITNESSES =
            """
            CREATE FUNCTION micros(at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
                SELECT CASE at WHEN 'infinity' THEN 9223372036854775000 WHEN '-infinity' THEN -9223372036854775000
                    ELSE (extract(epoch FROM at) * 1000000)::bigint END $$;
            CREATE TABLE purge_trouble (purger text, what text);
            CREATE SEQUENCE struck_purge_0;
            CREATE SEQUENCE struck_purge_1;
            CREATE SEQUENCE struck_purge_2;
            CREATE TABLE gone_command (LIKE onlyonce.command_dedup, gone_at timestamptz, gone_by text);
            CREATE TABLE gone_event (LIKE onlyonce.outbox_event, gone_at timestamptz, gone_by text);
            CREATE TABLE gone_message (LIKE onlyonce.inbox_message, gone_at timestamptz, gone_by text);
            CREATE INDEX ON gone_command (tenant);
            CREATE INDEX ON gone_event (tenant);
            CREATE INDEX ON gone_message (tenant);
            CREATE FUNCTION witness() RETURNS trigger LANGUAGE plpgsql AS $$
                DECLARE remover text := current_setting('application_name'); trouble text;
                BEGIN
                    EXECUTE format('INSERT INTO public.%I SELECT ($1).*, clock_timestamp(), $2', TG_ARGV[0]) USING OLD, remover;
                    IF remover LIKE 'purge%' THEN
                        SELECT what INTO trouble FROM public.purge_trouble WHERE purger = remover;
                        IF trouble IS NOT NULL THEN
                            PERFORM nextval(('public.struck_' || remover)::regclass);
                            IF trouble = 'wait' THEN PERFORM pg_sleep(0.3);
                            ELSIF trouble = 'wait longer' THEN PERFORM pg_sleep(5);
                            ELSE PERFORM public.torture_raise(trouble); END IF;
                        END IF;
                    END IF;
                    RETURN NULL;
                END $$;
            CREATE TRIGGER witness AFTER DELETE ON onlyonce.command_dedup
                FOR EACH ROW EXECUTE FUNCTION witness('gone_command');
            CREATE TRIGGER witness AFTER DELETE ON onlyonce.outbox_event
                FOR EACH ROW EXECUTE FUNCTION witness('gone_event');
            CREATE TRIGGER witness AFTER DELETE ON onlyonce.inbox_message
                FOR EACH ROW EXECUTE FUNCTION witness('gone_message');
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

    /**
     * Keys are the same in all tenants: only the tenant tells them apart. The version does so where
     * an id was forgotten and is used again.
     */
    static OutboxEvent event(
            String commandId, String attempt, String account, long delta, long version) {
        byte[] payload = (delta + " " + attempt).getBytes(StandardCharsets.UTF_8);
        return OutboxEvent.of(
                        "moved:" + commandId + ":" + account + ":" + version,
                        "Account",
                        account,
                        "Moved",
                        payload)
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

    /** The consumer's half, for what it has not applied before it forgot about it. */
    static void project(Connection connection, String tenant, String account, long delta)
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
    }

    /** Every run of a consumer's work leaves a row. */
    static void seen(Connection connection, String tenant, String eventId) throws SQLException {
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
