package io.onlyonce.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

import javax.sql.DataSource;

/**
 * What one writes after reading about idempotency keys: insert on conflict do nothing, work, outbox
 * insert, update to completed, commit. On our tables and our key, so that only the method differs.
 */
record Textbook(DataSource pool) implements Variant {

    private static final JsonMapper JSON = new JsonMapper();

    private static final String KEY =
            "command_id = ? AND operation = ? AND caller = ? AND tenant = ?";

    private static final String CLAIM =
            """
            INSERT INTO onlyonce.command_dedup (started_at, expires_at, forget_at, status, hash_version,
                command_id, operation, caller, tenant, payload_hash)
            VALUES (now(), now() + interval '7 days', now() + interval '14 days', 0, 11, ?, ?, ?, ?, ?)
            ON CONFLICT DO NOTHING\
            """;

    private static final String REPLAY =
            "SELECT status, payload_hash, result FROM onlyonce.command_dedup WHERE " + KEY;

    static final String APPEND =
            """
            INSERT INTO onlyonce.outbox_event (event_id, bucket, event_key, tenant, aggregate_type,
                aggregate_id, event_type, command_id, payload)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)\
            """;

    private static final String COMPLETE =
            """
            UPDATE onlyonce.command_dedup SET status = 1, finished_at = clock_timestamp(),
                content_tag = 'json', result = ? WHERE\s\
            """
                    + KEY;

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        byte[] payload = Business.payload(account);
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            if (claim(connection, id, sha256(payload))) {
                Business.post(connection, id, account);
                append(connection, id, account, payload);
                inside.run();
                complete(connection, id, new Business.Receipt(id, account, 10));
            } else {
                replay(connection, id);
            }
            connection.commit();
        }
    }

    private static boolean claim(Connection connection, String id, byte[] hash)
            throws SQLException {
        try (var claim = connection.prepareStatement(CLAIM)) {
            claim.setBytes(bindKey(claim, 1, id), hash);
            return claim.executeUpdate() == 1;
        }
    }

    private static void replay(Connection connection, String id) throws SQLException {
        try (var replay = connection.prepareStatement(REPLAY)) {
            bindKey(replay, 1, id);
            try (var row = replay.executeQuery()) {
                if (row.next()) {
                    row.getBytes("result");
                }
            }
        }
    }

    private static void append(Connection connection, String id, int account, byte[] payload)
            throws SQLException {
        try (var append = connection.prepareStatement(APPEND)) {
            bindAppend(append, id, account, payload);
            append.executeUpdate();
        }
    }

    static void bindAppend(PreparedStatement append, String id, int account, byte[] payload)
            throws SQLException {
        append.setObject(1, UUID.randomUUID());
        append.setInt(2, account % 64);
        append.setString(3, "deposited:" + id);
        append.setString(4, Business.SCOPE.tenant());
        append.setString(5, "Account");
        append.setString(6, String.valueOf(account));
        append.setString(7, "Deposited");
        append.setString(8, id);
        append.setBytes(9, payload);
    }

    private static void complete(Connection connection, String id, Business.Receipt receipt)
            throws SQLException {
        try (var complete = connection.prepareStatement(COMPLETE)) {
            complete.setBytes(1, JSON.writeValueAsBytes(receipt));
            bindKey(complete, 2, id);
            complete.executeUpdate();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a receipt is always JSON", e);
        }
    }

    static int bindKey(PreparedStatement statement, int from, String id) throws SQLException {
        statement.setString(from, id);
        statement.setString(from + 1, Business.SCOPE.operation());
        statement.setString(from + 2, Business.SCOPE.caller());
        statement.setString(from + 3, Business.SCOPE.tenant());
        return from + 4;
    }

    private static byte[] sha256(byte[] payload) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(payload);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
