package io.onlyonce.compare;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.OffsetDateTime;
import java.util.UUID;

import javax.sql.DataSource;

/**
 * The best one could write by hand: the very statements that the library sends at READ COMMITTED,
 * in raw JDBC, and nothing else around them. {@code BriefTest} holds the texts to the library's.
 */
record HandWritten(DataSource pool) implements Variant {

    private static final JsonMapper JSON = new JsonMapper();

    private static final long DAY = 86_400_000_000L;

    private static final String CLAIM =
            """
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;SET LOCAL statement_timeout=30000;\
            SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held, pg_catalog.now() AS opened_at,
                pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL AS has_written;
            SELECT status, hash_version, payload_hash, content_tag, key_id, result, rejection_code, started_at,
            started_at = pg_catalog.now() AS own, expires_at <= pg_catalog.clock_timestamp() AS expired,
            status <> 0 AND forget_at <= pg_catalog.clock_timestamp() AS forgotten\
             FROM onlyonce.command_dedup WHERE command_id = ? AND operation = ? AND caller = ? AND tenant = ?;
            SAVEPOINT onlyonce_work\
            """;

    private static final String FINISH =
            """
            INSERT INTO onlyonce.command_dedup AS d (started_at, finished_at, expires_at, forget_at, payload_schema, status,
                hash_version, command_id, operation, caller, tenant, payload_hash, key_id, resource_type, resource_id,
                content_tag, rejection_code, result)
            VALUES (pg_catalog.now(), pg_catalog.clock_timestamp(),\
             coalesce(pg_catalog.now() + ?::bigint * interval '1 microsecond', 'infinity'),\
             coalesce(pg_catalog.now() + ?::bigint * interval '1 microsecond', 'infinity'), ?,
                CASE WHEN pg_catalog.now() OPERATOR(pg_catalog.=) ? THEN ?::int2 ELSE onlyonce.refuse('OO001', 'not this transaction')::int::int2 END,
                ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
            INSERT INTO onlyonce.outbox_event AS e (tenant, command_id, aggregate_version, event_id, bucket, event_key,
                aggregate_type, aggregate_id, event_type, headers, payload, state, settled_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, NULL)
            ON CONFLICT (event_key, tenant) DO UPDATE SET event_key = e.event_key
            WHERE CASE WHEN (e.payload, e.event_type, e.aggregate_type, e.aggregate_id)
                    = (excluded.payload, excluded.event_type, excluded.aggregate_type, excluded.aggregate_id)
                    AND e.aggregate_version IS NOT DISTINCT FROM excluded.aggregate_version
                THEN false ELSE onlyonce.refuse('OO003', 'event key reused') END;
            COMMIT\
            """;

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        byte[] payload = Business.payload(account);
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            OffsetDateTime openedAt = claim(connection, id);
            Business.post(connection, id, account);
            inside.run();
            finish(connection, openedAt, new Business.Receipt(id, account, 10), payload);
        }
    }

    private static OffsetDateTime claim(Connection connection, String id) throws SQLException {
        try (var claim = connection.prepareStatement(CLAIM)) {
            claim.setLong(
                    1, ByteBuffer.wrap(sha256(id.getBytes(StandardCharsets.UTF_8))).getLong());
            Textbook.bindKey(claim, 2, id);
            claim.execute();
            claim.getMoreResults(); // past SET TRANSACTION
            claim.getMoreResults(); // past SET LOCAL
            OffsetDateTime openedAt;
            try (var lock = claim.getResultSet()) {
                lock.next();
                if (!lock.getBoolean("held")) {
                    throw new IllegalStateException("only fresh commands");
                }
                openedAt = lock.getObject("opened_at", OffsetDateTime.class);
            }
            claim.getMoreResults();
            try (var row = claim.getResultSet()) {
                if (row.next()) {
                    throw new IllegalStateException("only fresh commands");
                }
            }
            return openedAt;
        }
    }

    private static void finish(
            Connection connection,
            OffsetDateTime openedAt,
            Business.Receipt receipt,
            byte[] payload)
            throws SQLException {
        try (PreparedStatement finish = connection.prepareStatement(FINISH)) {
            finish.setLong(1, 7 * DAY);
            finish.setLong(2, 14 * DAY);
            finish.setInt(3, 0);
            finish.setObject(4, openedAt);
            finish.setInt(5, 1);
            finish.setInt(6, 11);
            int i = Textbook.bindKey(finish, 7, receipt.number());
            finish.setBytes(i++, sha256(payload));
            finish.setString(i++, null);
            finish.setString(i++, null);
            finish.setString(i++, null);
            finish.setString(i++, "json");
            finish.setString(i++, null);
            finish.setBytes(i++, JSON.writeValueAsBytes(receipt));
            finish.setString(i++, Business.SCOPE.tenant());
            finish.setString(i++, receipt.number());
            finish.setNull(i++, Types.BIGINT);
            finish.setObject(i++, UUID.randomUUID());
            finish.setInt(i++, receipt.account() % 64);
            finish.setString(i++, "deposited:" + receipt.number());
            finish.setString(i++, "Account");
            finish.setString(i++, String.valueOf(receipt.account()));
            finish.setString(i++, "Deposited");
            finish.setString(i++, null);
            finish.setBytes(i, payload);
            finish.execute();
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a receipt is always JSON", e);
        }
    }

    private static byte[] sha256(byte[] payload) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(payload);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
