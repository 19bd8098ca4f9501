package io.onlyonce.command;

import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.PostgreSql;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.tx.Isolation;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The claim on PostgreSQL, in two shapes with one exclusion, an advisory lock of the transaction.
 *
 * <p>By lock (high road at READ COMMITTED): try the lock, then look for the row with a snapshot
 * taken after it; nothing is written before the finish, which inserts the row once. By row (low
 * road, and above READ COMMITTED, where the snapshot may be older than the lock): the row is
 * inserted at once if the lock was free, and the finish turns it into its end.
 */
final class PostgresCommands extends CommandStore {

    private final String lockClaim;
    private final String blockingLockClaim;
    private final String limitedRowClaim;
    private final String lowRowClaim;
    private final String insert;
    private final String upsert;
    private final String select;
    private final String remove;
    private final String info;
    private final String resolve;
    private final String release;
    private final EventRows events;
    private final String[] finishes;
    private final Map<String, String> openings = new ConcurrentHashMap<>();
    private final Map<String, String> openingsWithSavepoint = new ConcurrentHashMap<>();

    PostgresCommands(SchemaName schema, EventRows events) {
        this.events = events;
        String key = "command_id = ? AND operation = ? AND caller = ? AND tenant = ?";
        String columns =
                """
                status, hash_version, payload_hash, content_tag, key_id, result, rejection_code, started_at,
                started_at = pg_catalog.now() AS own, expires_at <= pg_catalog.clock_timestamp() AS expired,
                status <> 0 AND forget_at <= pg_catalog.clock_timestamp() AS forgotten\
                """;
        String expires =
                "coalesce(pg_catalog.now() + ?::bigint * interval '1 microsecond', 'infinity')";

        select = "SELECT %s FROM %s.command_dedup WHERE %s".formatted(columns, schema, key);

        // Two statements, so two snapshots: who got the lock sees all that its last holder
        // committed.
        lockClaim =
                """
                SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held, pg_catalog.now() AS opened_at,
                    pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL AS has_written;
                """
                        + select;
        blockingLockClaim =
                """
                SELECT pg_catalog.pg_advisory_xact_lock(?) IS NOT NULL AS held, pg_catalog.now() AS opened_at,
                    pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL AS has_written;
                """
                        + select;

        // The branch that reads the row is not entered when it was inserted here: at SERIALIZABLE,
        // reading a missing key would make commands that have nothing to do with each other abort
        // each other.
        String rowClaim =
                """
                WITH lock AS MATERIALIZED (SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held),
                started AS (
                    INSERT INTO %1$s.command_dedup (started_at, expires_at, forget_at, payload_schema, status, hash_version,
                        command_id, operation, caller, tenant, payload_hash, key_id, resource_type, resource_id)
                    SELECT pg_catalog.now(), %2$s, %3$s, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM lock WHERE held
                    ON CONFLICT (command_id, operation, caller, tenant) DO NOTHING
                    RETURNING started_at)
                SELECT %6$s true AS held, true AS inserted, pg_catalog.now() AS opened_at, 0 AS status, 0 AS hash_version,
                    ''::bytea AS payload_hash, NULL AS content_tag, NULL AS key_id, NULL::bytea AS result, NULL AS rejection_code,
                    started_at, true AS own, false AS expired, false AS forgotten
                FROM started
                UNION ALL
                SELECT %6$s (SELECT held FROM lock), false, pg_catalog.now(), %4$s
                FROM %1$s.command_dedup WHERE %5$s AND NOT EXISTS (SELECT 1 FROM started)\
                """;
        // Its row comes after the insert, and so does the end of the bound on waiting.
        limitedRowClaim =
                PostgreSql.limitedMark(PostgreSql.CLAIM_LOCK_TIMEOUT)
                        + ";\n"
                        + rowClaim.formatted(
                                schema, expires, expires, columns, key, PostgreSql.UNLIMITED + ",");
        // Until it is completed, a claim of the low road can be found, and is never purged, by its
        // forget_at.
        lowRowClaim =
                rowClaim.formatted(schema, expires, "'-infinity'::timestamptz", columns, key, "");

        // now() stands still within a transaction: another value means that the claim was made in
        // another one, whose end has freed the lock.
        insert =
                """
                INSERT INTO %1$s.command_dedup AS d (started_at, finished_at, expires_at, forget_at, payload_schema, status,
                    hash_version, command_id, operation, caller, tenant, payload_hash, key_id, resource_type, resource_id,
                    content_tag, rejection_code, result)
                VALUES (pg_catalog.now(), pg_catalog.clock_timestamp(), %2$s, %2$s, ?,
                    CASE WHEN pg_catalog.now() OPERATOR(pg_catalog.=) ? THEN ?::int2 ELSE %1$s.refuse('OO001', 'not this transaction')::int::int2 END,
                    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)\
                """
                        .formatted(schema, expires);
        // An upsert, because an UPDATE would look the row up and lock, at SERIALIZABLE, what it
        // looked at. A row that is not this transaction's, or that has vanished (xmax is 0 if it
        // was inserted), raises.
        upsert =
                insert
                        + """

                        ON CONFLICT (command_id, operation, caller, tenant) DO UPDATE SET
                            status = CASE WHEN d.status = 0 AND d.started_at = excluded.started_at THEN excluded.status
                                ELSE %1$s.refuse('OO002', 'claim lost')::int::int2 END,
                            finished_at = excluded.finished_at, forget_at = excluded.forget_at,
                            content_tag = excluded.content_tag, rejection_code = excluded.rejection_code,
                            result = excluded.result
                        RETURNING CASE WHEN d.xmax = 0 THEN %1$s.refuse('OO002', 'claim lost') END\
                        """
                                .formatted(schema);

        remove =
                "DELETE FROM %s.command_dedup WHERE %s AND status <> 0 AND expires_at <= pg_catalog.clock_timestamp()"
                        .formatted(schema, key);
        info =
                """
                SELECT status, started_at, nullif(finished_at, 'infinity') AS finished_at,
                    nullif(expires_at, 'infinity') AS expires_at, expires_at <= pg_catalog.clock_timestamp() AS expired,
                    started_at = pg_catalog.now() AS own, rejection_code, resource_type, resource_id, resolved_by, resolved_why
                FROM %s.command_dedup WHERE %s\
                """
                        .formatted(schema, key);
        // Replayed for as long as the claim asked for, from now on.
        resolve =
                """
                UPDATE %s.command_dedup SET status = 3, finished_at = pg_catalog.clock_timestamp(),
                    expires_at = CASE WHEN expires_at = 'infinity' THEN expires_at
                        ELSE pg_catalog.now() + (expires_at - started_at) END,
                    forget_at = CASE WHEN expires_at = 'infinity' THEN expires_at
                        ELSE pg_catalog.now() + 2 * (expires_at - started_at) END,
                    resolved_by = ?, resolved_why = ?, content_tag = ?, result = ?, key_id = ?, payload_hash = ?
                WHERE %s AND status = 0 AND started_at <> pg_catalog.now()\
                """
                        .formatted(schema, key);
        release =
                """
                WITH gone AS (
                    DELETE FROM %1$s.command_dedup WHERE %2$s AND status = 0 AND started_at <> pg_catalog.now() RETURNING *)
                INSERT INTO %1$s.command_archive (started_at, expires_at, forget_at, payload_schema, status, hash_version,
                    command_id, operation, caller, tenant, payload_hash, key_id, resource_type, resource_id, resolved_by,
                    resolved_why)
                SELECT started_at, expires_at, forget_at, payload_schema, status, hash_version, command_id, operation,
                    caller, tenant, payload_hash, key_id, resource_type, resource_id, ?, ?
                FROM gone\
                """
                        .formatted(schema, key);
        finishes = finishes();
    }

    /** Few different settings are in use at a time; their texts are kept, for the same reason. */
    private String opening(String settings, String claim, String tail) {
        Map<String, String> texts = tail.isEmpty() ? openings : openingsWithSavepoint;
        if (texts.size() > 100) {
            texts.clear();
        }
        return texts.computeIfAbsent(settings, key -> settings + claim + tail);
    }

    @Override
    Seen open(Connection connection, String settings, NewRow row, Plan plan) throws SQLException {
        String tail = plan.savepoint() ? ";\n" + SAVEPOINT : "";
        if (plan.isolation() == Isolation.READ_COMMITTED) {
            return openByLock(connection, settings, row, plan.block(), tail);
        }
        String wait =
                plan.block() == null
                        ? ""
                        : PostgreSql.limited(
                                        plan.block(), "SELECT pg_catalog.pg_advisory_xact_lock(?)")
                                + ";\n";
        return openByRow(connection, settings + wait, row, plan.block() != null, tail);
    }

    private Seen openByLock(
            Connection connection,
            String settings,
            NewRow row,
            @Nullable Duration block,
            String tail)
            throws SQLException {
        String sql =
                block == null
                        ? opening(settings, lockClaim, tail)
                        : settings + PostgreSql.limited(block, blockingLockClaim) + tail;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, row.lockKey());
            bindKey(statement, 2, row.command().scope(), row.command().id());
            statement.execute();
            if (block != null) {
                PostgreSql.nextRows(statement, true);
            }
            boolean held;
            OffsetDateTime mark;
            try (ResultSet lock = PostgreSql.nextRows(statement, block == null)) {
                lock.next();
                held = lock.getBoolean("held");
                mark = PostgreSql.markOf(lock);
            }
            try (ResultSet rows = PostgreSql.nextRows(statement, false)) {
                return new Seen(held, false, mark, rows.next() ? stored(rows) : null);
            }
        }
    }

    private Seen openByRow(
            Connection connection, String opening, NewRow row, boolean block, String tail)
            throws SQLException {
        String sql = opening(opening, limitedRowClaim, tail);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int i = 1;
            if (block) {
                statement.setLong(i++, row.lockKey());
            }
            bindRowClaim(statement, i, row, true);
            statement.execute();
            for (int before = 0; block && before < 3; before++) {
                PostgreSql.nextRows(statement, before == 0);
            }
            OffsetDateTime mark;
            try (ResultSet opened = PostgreSql.nextRows(statement, !block)) {
                opened.next();
                mark = PostgreSql.markOf(opened);
            }
            try (ResultSet rows = PostgreSql.nextRows(statement, false)) {
                return seen(rows, mark);
            }
        }
    }

    @Override
    Seen claim(Connection connection, NewRow row) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lowRowClaim)) {
            bindRowClaim(statement, 1, row, false);
            try (ResultSet rows = statement.executeQuery()) {
                return seen(rows, null);
            }
        }
    }

    @Override
    Seen claimAfterRemoval(Connection connection, NewRow row, Plan plan, Seen seen)
            throws SQLException {
        return plan.isolation() == Isolation.READ_COMMITTED
                ? new Seen(true, false, seen.mark(), null)
                : claim(connection, row);
    }

    private static void bindRowClaim(
            PreparedStatement statement, int from, NewRow row, boolean withForget)
            throws SQLException {
        Command command = row.command();
        int i = from;
        statement.setLong(i++, row.lockKey());
        statement.setObject(i++, row.expiry().expiresMicros(), Types.BIGINT);
        if (withForget) {
            statement.setObject(i++, row.expiry().forgetMicros(), Types.BIGINT);
        }
        statement.setInt(i++, command.hash().schemaVersion());
        statement.setInt(i++, row.hashVersion());
        i = bindKey(statement, i, command.scope(), command.id());
        statement.setBytes(i++, row.hash());
        statement.setString(i++, row.keyId());
        statement.setString(i++, command.resourceType());
        statement.setString(i++, command.resourceId());
        bindKey(statement, i, command.scope(), command.id());
    }

    /** No row at all: the lock was refused, and nothing can be seen. */
    private static Seen seen(ResultSet rows, @Nullable OffsetDateTime opened) throws SQLException {
        if (!rows.next()) {
            return new Seen(false, false, "none", null);
        }
        OffsetDateTime mark =
                opened != null ? opened : rows.getObject("opened_at", OffsetDateTime.class);
        boolean inserted = rows.getBoolean("inserted");
        return new Seen(rows.getBoolean("held"), inserted, mark, inserted ? null : stored(rows));
    }

    @Override
    void finish(Connection connection, Object mark, NewRow row, Final end) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(upsert)) {
            bindFinish(statement, mark, row, end);
            statement.execute();
        }
    }

    @Override
    int finishAndCommit(Connection connection, Object mark, NewRow row, Finish finish)
            throws SQLException {
        String sql = finishes[shape(finish)];
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int i = bindFinish(statement, mark, row, finish.end());
            if (!finish.events().isEmpty()) {
                Command command = row.command();
                events.bind(statement, i, command.scope().tenant(), command.id(), finish.events());
            }
            statement.execute();
            if (finish.events().isEmpty()) {
                return 0;
            }
            boolean byLock = finish.plan().isolation() == Isolation.READ_COMMITTED;
            return PostgreSql.changes(statement) - (byLock ? 1 : 0); // the command's own row
        }
    }

    /** The texts are made once: the driver finds what it has prepared by the text's hash. */
    private String[] finishes() {
        var texts = new String[12];
        for (boolean undo : new boolean[] {false, true}) {
            for (boolean byLock : new boolean[] {false, true}) {
                for (int events = 0; events <= 2; events++) {
                    texts[shape(undo, byLock, events)] =
                            (undo ? UNDO + ";\n" : "")
                                    + (byLock ? insert : upsert)
                                    + (events == 0 ? "" : ";\n" + this.events.insert(events))
                                    + ";\nCOMMIT";
                }
            }
        }
        return texts;
    }

    private static int shape(Finish finish) {
        return shape(
                finish.undo(),
                finish.plan().isolation() == Isolation.READ_COMMITTED,
                finish.events().size());
    }

    private static int shape(boolean undo, boolean byLock, int events) {
        return Math.min(events, 2) * 4 + (undo ? 2 : 0) + (byLock ? 1 : 0);
    }

    private static int bindFinish(PreparedStatement statement, Object mark, NewRow row, Final end)
            throws SQLException {
        Command command = row.command();
        int i = 1;
        statement.setObject(i++, row.expiry().expiresMicros(), Types.BIGINT);
        statement.setObject(i++, row.expiry().forgetMicros(), Types.BIGINT);
        statement.setInt(i++, command.hash().schemaVersion());
        statement.setObject(i++, mark);
        statement.setInt(i++, end.status());
        statement.setInt(i++, row.hashVersion());
        i = bindKey(statement, i, command.scope(), command.id());
        statement.setBytes(i++, row.hash());
        statement.setString(i++, row.keyId());
        statement.setString(i++, command.resourceType());
        statement.setString(i++, command.resourceId());
        statement.setString(i++, end.result().tag());
        statement.setString(i++, end.rejectionCode());
        statement.setBytes(i++, end.result().bytes());
        return i;
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
        String sql =
                shared
                        ? "SELECT pg_catalog.pg_try_advisory_xact_lock_shared(?)"
                        : "SELECT pg_catalog.pg_try_advisory_xact_lock(?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, lockKey);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
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
        try (PreparedStatement statement =
                connection.prepareStatement(settled.released() ? release : resolve)) {
            if (settled.released()) {
                int i = bindKey(statement, 1, scope, id);
                statement.setString(i++, settled.who());
                statement.setString(i, settled.why());
            } else {
                statement.setString(1, settled.who());
                statement.setString(2, settled.why());
                statement.setString(3, settled.tag());
                statement.setBytes(4, settled.bytes());
                statement.setString(5, settled.keyId());
                statement.setBytes(6, settled.hash());
                bindKey(statement, 7, scope, id);
            }
            return statement.executeUpdate() == 1;
        }
    }
}
