package io.onlyonce.command;

import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.H2;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.sql.SqlState;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Optional;

/**
 * The claim on H2: a row of {@code lock_stripe} stands in for the advisory lock, and the command's
 * row is inserted at once on both roads. Neighbours in a stripe are told "in flight" and pass when
 * they ask again. In process a trip costs nothing, so each statement is one of its own, and counts
 * are checked before the commit.
 */
final class H2Commands extends CommandStore {

    private static final String NEVER = "TIMESTAMP WITH TIME ZONE '9999-12-31 23:59:59+00'";
    private static final String UNFINISHED = "TIMESTAMP WITH TIME ZONE '0001-01-01 00:00:00+00'";

    private final SchemaName schema;
    private final String select;
    private final String insert;
    private final String finish;
    private final String remove;
    private final String info;
    private final String resolve;
    private final String archive;
    private final String delete;
    private final EventRows events;

    H2Commands(SchemaName schema, EventRows events) {
        this.schema = schema;
        this.events = events;
        String key = "command_id = ? AND operation = ? AND caller = ? AND tenant = ?";
        select =
                """
                SELECT status, hash_version, payload_hash, content_tag, key_id, result, rejection_code, started_at,
                    started_at = CURRENT_TIMESTAMP(6) AS own, expires_at <= CURRENT_TIMESTAMP(6) AS expired,
                    status <> 0 AND forget_at <= CURRENT_TIMESTAMP(6) AS forgotten
                FROM %s.command_dedup WHERE %s\
                """
                        .formatted(schema, key);
        insert =
                """
                INSERT INTO %s.command_dedup (started_at, expires_at, forget_at, payload_schema, status, hash_version,
                    command_id, operation, caller, tenant, payload_hash, key_id, resource_type, resource_id)
                VALUES (CURRENT_TIMESTAMP(6), COALESCE(DATEADD(MICROSECOND, CAST(? AS BIGINT), CURRENT_TIMESTAMP(6)), %s), %s,
                    ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)\
                """
                        .formatted(schema, NEVER, UNFINISHED);
        finish =
                """
                UPDATE %s.command_dedup SET status = ?, finished_at = CURRENT_TIMESTAMP(6),
                    forget_at = COALESCE(DATEADD(MICROSECOND, CAST(? AS BIGINT), started_at), %s),
                    content_tag = ?, rejection_code = ?, result = ?
                WHERE %s AND status = 0\
                """
                        .formatted(schema, NEVER, key);
        remove =
                "DELETE FROM %s.command_dedup WHERE %s AND status <> 0 AND expires_at <= CURRENT_TIMESTAMP(6)"
                        .formatted(schema, key);
        info =
                """
                SELECT status, started_at, finished_at, NULLIF(expires_at, %s) AS expires_at,
                    expires_at <= CURRENT_TIMESTAMP(6) AS expired, started_at = CURRENT_TIMESTAMP(6) AS own, rejection_code,
                    resource_type, resource_id, resolved_by, resolved_why
                FROM %s.command_dedup WHERE %s\
                """
                        .formatted(NEVER, schema, key);
        resolve =
                """
                UPDATE %s.command_dedup SET status = 3, finished_at = CURRENT_TIMESTAMP(6),
                    expires_at = CASE WHEN expires_at = %2$s THEN expires_at
                        ELSE CURRENT_TIMESTAMP(6) + (expires_at - started_at) DAY TO SECOND END,
                    forget_at = CASE WHEN expires_at = %2$s THEN expires_at
                        ELSE CURRENT_TIMESTAMP(6) + 2 * ((expires_at - started_at) DAY TO SECOND) END,
                    resolved_by = ?, resolved_why = ?, content_tag = ?, result = ?, key_id = ?, payload_hash = ?
                WHERE %3$s AND status = 0 AND started_at <> CURRENT_TIMESTAMP(6)\
                """
                        .formatted(schema, NEVER, key);
        archive =
                """
                INSERT INTO %1$s.command_archive (started_at, expires_at, forget_at, payload_schema, status, hash_version,
                    command_id, operation, caller, tenant, payload_hash, key_id, resource_type, resource_id, resolved_by,
                    resolved_why)
                SELECT started_at, expires_at, forget_at, payload_schema, status, hash_version, command_id, operation,
                    caller, tenant, payload_hash, key_id, resource_type, resource_id, ?, ?
                FROM %1$s.command_dedup WHERE %2$s AND status = 0 AND started_at <> CURRENT_TIMESTAMP(6)\
                """
                        .formatted(schema, key);
        delete = "DELETE FROM %s.command_dedup WHERE %s AND status = 0".formatted(schema, key);
    }

    @Override
    Seen open(Connection connection, String settings, NewRow row, Plan plan) throws SQLException {
        Seen seen = claim(connection, row);
        if (plan.savepoint()) {
            execute(connection, SAVEPOINT);
        }
        return seen;
    }

    @Override
    Seen claim(Connection connection, NewRow row) throws SQLException {
        boolean held = tryLock(connection, row.lockKey(), false);
        Optional<StoredRow> stored = read(connection, row.command().scope(), row.command().id());
        if (!held || stored.isPresent()) {
            return new Seen(held, false, "none", stored.orElse(null));
        }
        try {
            insert(connection, row);
        } catch (SQLException e) {
            if (SqlState.is(SqlState.UNIQUE_VIOLATION, e)) { // committed after our snapshot
                throw new SQLException("claimed by somebody else", SqlState.SERIALIZATION_FAILURE);
            }
            throw e;
        }
        return new Seen(true, true, H2.transactionId(connection), null);
    }

    @Override
    Seen claimAfterRemoval(Connection connection, NewRow row, Plan plan, Seen seen)
            throws SQLException {
        return claim(connection, row);
    }

    private void insert(Connection connection, NewRow row) throws SQLException {
        Command command = row.command();
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            int i = 1;
            statement.setObject(i++, row.expiry().expiresMicros(), Types.BIGINT);
            statement.setInt(i++, command.hash().schemaVersion());
            statement.setInt(i++, row.hashVersion());
            i = bindKey(statement, i, command.scope(), command.id());
            statement.setBytes(i++, row.hash());
            statement.setString(i++, row.keyId());
            statement.setString(i++, command.resourceType());
            statement.setString(i, command.resourceId());
            statement.executeUpdate();
        }
    }

    @Override
    void finish(Connection connection, Object mark, NewRow row, Final end) throws SQLException {
        if (!H2.transactionId(connection).equals(mark)) {
            throw new SQLException("not this transaction", SqlState.NOT_THIS_TRANSACTION);
        }
        try (PreparedStatement statement = connection.prepareStatement(finish)) {
            int i = 1;
            statement.setInt(i++, end.status());
            statement.setObject(i++, row.expiry().forgetMicros(), Types.BIGINT);
            statement.setString(i++, end.result().tag());
            statement.setString(i++, end.rejectionCode());
            statement.setBytes(i++, end.result().bytes());
            bindKey(statement, i, row.command().scope(), row.command().id());
            if (statement.executeUpdate() != 1) {
                throw new SQLException("claim lost", SqlState.CLAIM_LOST);
            }
        }
    }

    @Override
    int finishAndCommit(Connection connection, Object mark, NewRow row, Finish finish)
            throws SQLException {
        if (finish.undo()) {
            execute(connection, UNDO);
        }
        finish(connection, mark, row, finish.end());
        Command command = row.command();
        int appended =
                events.insertEach(
                                connection, command.scope().tenant(), command.id(), finish.events())
                        .size();
        connection.commit();
        return appended;
    }

    @Override
    String remove() {
        return remove;
    }

    @Override
    String select() {
        return select;
    }

    @Override
    boolean tryLock(Connection connection, long lockKey, boolean shared) throws SQLException {
        return H2.tryLock(connection, schema, lockKey);
    }

    @Override
    Optional<CommandInfo> info(Connection connection, CommandScope scope, String id)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(info)) {
            bindKey(statement, 1, scope, id);
            return CommandInfo.read(statement);
        }
    }

    @Override
    boolean resolve(
            Connection connection, CommandScope scope, String id, Resolution.Settled settled)
            throws SQLException {
        if (settled.released()) {
            return settle(connection, archive, scope, id, settled, false)
                    && settle(connection, delete, scope, id, null, false);
        }
        return settle(connection, resolve, scope, id, settled, true);
    }

    private static boolean settle(
            Connection connection,
            String sql,
            CommandScope scope,
            String id,
            Resolution.@Nullable Settled settled,
            boolean withResult)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int i = 1;
            if (settled != null) {
                statement.setString(i++, settled.who());
                statement.setString(i++, settled.why());
                if (withResult) {
                    statement.setString(i++, settled.tag());
                    statement.setBytes(i++, settled.bytes());
                    statement.setString(i++, settled.keyId());
                    statement.setBytes(i++, settled.hash());
                }
            }
            bindKey(statement, i, scope, id);
            return statement.executeUpdate() == 1;
        }
    }
}
