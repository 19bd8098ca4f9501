package io.onlyonce.observe;

import io.onlyonce.Schema;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;

import java.nio.file.Files;
import java.nio.file.Path;

/** Tables as they are after a year: many rows, few of which anybody asks for. */
final class LargeTables {

    /**
     * Every 1,000th command is unresolved, every 100th due; every 1,000th event is not published.
     */
    private static final String FILL =
            """
            INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status, hash_version,
                command_id, operation, caller, tenant, payload_hash, content_tag, result, resource_type)
            SELECT t, CASE WHEN n % 1000 = 0 THEN NULL ELSE t END, now() + f / 2, CASE WHEN n % 1000 = 0 THEN '-infinity' ELSE now() + f END,
                CASE WHEN n % 1000 = 0 THEN 0 ELSE 1 END, 1, 'MARK' || lpad(n::text, 12, '0'), 'op-' || n % 7,
                'caller-' || n % 20, 'acme', decode(repeat('00', 32), 'hex'), CASE WHEN n % 1000 = 0 THEN NULL ELSE 'json' END,
                CASE WHEN n % 1000 = 0 THEN NULL ELSE '{}'::bytea END, 'Account'
            FROM (SELECT n, now() - (1 - n / ROWS::float8) * interval '365 days' AS t,
                CASE WHEN n % 100 = 1 THEN -1 ELSE 1 END * (n % 1000 + 1) * interval '1 minute' AS f
                FROM generate_series(1, ROWS) AS n) s;
            INSERT INTO onlyonce.inbox_message (received_at, processed_at, status, hash_version, message_id, source, consumer,
                tenant, payload_hash)
            SELECT now(), CASE WHEN n % 1000 = 0 THEN '-infinity' WHEN n % 100 = 1 THEN now() - interval '31 days' ELSE now() END,
                CASE WHEN n % 1000 = 0 THEN 0 ELSE 1 END, 1, 'MARKm' || n, 'orders', 'billing', 'acme',
                decode(repeat('00', 32), 'hex')
            FROM generate_series(1, ROWS / 4) AS n;
            INSERT INTO onlyonce.outbox_event (created_at, settled_at, event_id, bucket, state, event_key, tenant,
                aggregate_type, aggregate_id, event_type, payload)
            SELECT now(), CASE WHEN n % 1000 > 2 THEN now() - (n % 800) * interval '13 minutes' END, gen_random_uuid(), n % 64,
                CASE n % 1000 WHEN 0 THEN 0 WHEN 1 THEN 2 WHEN 2 THEN 3 WHEN 3 THEN 4 ELSE 1 END, 'MARKe' || n, 'acme', 'Account',
                'a' || n / 10, 'Paid', ''
            FROM generate_series(1, ROWS / 4) AS n;
            INSERT INTO onlyonce.outbox_blocked (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
            SELECT 'infinity', n % 64, true, 'a' || n, 'Account', 'acme' FROM generate_series(1, ROWS / 100) AS n;
            INSERT INTO onlyonce.command_archive (archived_at, started_at, expires_at, forget_at, payload_schema, status,
                hash_version, command_id, operation, caller, tenant, payload_hash)
            SELECT now() - (n % 366) * interval '1 day', now(), now(), now(), 0, 1, 1, 'c' || n, 'op', 'caller', 'acme',
                decode(repeat('00', 32), 'hex')
            FROM generate_series(1, ROWS / 4) AS n;
            """;

    private LargeTables() {}

    static void fill(TestDatabase db, long rows) throws Exception {
        Schema.apply(db.dataSource());
        db.execute(FILL.replace("MARK", Markers.MARK).replace("ROWS", Long.toString(rows)));
        db.execute(Files.readString(Path.of("sql/postgresql/tombstones.sql")));
        db.execute("VACUUM ANALYZE");
    }
}
