package io.onlyonce.observe;

import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.SchemaName;

/** The questions, per database. Each takes a limit as its last parameter. */
record InspectorSql(SchemaName schema, boolean postgres) {

    private static final String H2_NEVER = "TIMESTAMP WITH TIME ZONE '9999-12-31 23:59:59+00'";
    private static final String H2_UNFINISHED = "TIMESTAMP WITH TIME ZONE '0001-01-01 00:00:00+00'";

    private String unfinished() {
        return postgres ? "'-infinity'" : H2_UNFINISHED;
    }

    private String now() {
        return postgres ? "pg_catalog.now()" : "CURRENT_TIMESTAMP(6)";
    }

    private String of(String query) {
        return query.replace("SCHEMA", schema.value());
    }

    /** The index on forget_at knows them by a time that no other row has. */
    String unresolvedCommands() {
        return of(
                """
                SELECT tenant, caller, operation, command_id, started_at, resource_type, resource_id
                FROM SCHEMA.command_dedup WHERE forget_at = %s AND status = 0 ORDER BY started_at LIMIT ?\
                """
                        .formatted(unfinished()));
    }

    String unresolved() {
        return of(
                """
                SELECT count(*) AS counted, min(started_at) AS since FROM (
                    SELECT started_at FROM SCHEMA.command_dedup WHERE forget_at = %s AND status = 0 LIMIT ?) d\
                """
                        .formatted(unfinished()));
    }

    String unfinishedMessages() {
        return of(
                """
                SELECT tenant, consumer, source, message_id, received_at
                FROM SCHEMA.inbox_message WHERE processed_at = %s AND status = 0 ORDER BY received_at LIMIT ?\
                """
                        .formatted(unfinished()));
    }

    String overdue() {
        return of(
                """
                SELECT count(*) AS counted, min(forget_at) AS since FROM (
                    SELECT forget_at FROM SCHEMA.command_dedup
                    WHERE forget_at > %s AND forget_at <= %s%s AND status <> 0 ORDER BY forget_at LIMIT ?) d\
                """
                        .formatted(
                                unfinished(),
                                now(),
                                postgres ? " AND forget_at < 'infinity'" : ""));
    }

    // ---- what is known here of the outbox's tables ----

    /** The oldest is the first of a bucket; there are few buckets. */
    String backlog() {
        return of(
                postgres
                        ? """
                        SELECT (SELECT count(*) FROM (
                                SELECT 1 FROM SCHEMA.outbox_event WHERE state = 0 ORDER BY bucket, seq LIMIT ?) d) AS counted,
                            (SELECT min(created_at) FROM generate_series(0, %d) AS b (bucket) CROSS JOIN LATERAL (
                                SELECT created_at FROM SCHEMA.outbox_event e
                                WHERE e.bucket = b.bucket AND e.state = 0 ORDER BY e.seq LIMIT 1) f) AS since\
                        """
                                .formatted(EventRows.BUCKETS - 1)
                        : """
                        SELECT count(*) AS counted, min(created_at) AS since FROM (
                            SELECT created_at FROM SCHEMA.outbox_event WHERE state = 0 LIMIT ?) d\
                        """);
    }

    String deadLetters() {
        return of(
                """
                SELECT count(*) AS counted, min(created_at) AS since FROM (
                    SELECT created_at FROM SCHEMA.outbox_event WHERE state = 2 ORDER BY seq LIMIT ?) d\
                """);
    }

    String blocked() {
        String waiting =
                """
                FROM SCHEMA.outbox_event e WHERE e.state = 3 AND e.aggregate_id = b.aggregate_id
                    AND e.aggregate_type = b.aggregate_type AND e.tenant = b.tenant\
                """;
        return of(
                """
                SELECT b.tenant, b.aggregate_type, b.aggregate_id, b.blocked_at, NULLIF(b.blocked_until, %s) AS until, (%s) AS waiting
                FROM SCHEMA.outbox_blocked b ORDER BY b.aggregate_id, b.aggregate_type, b.tenant LIMIT ?\
                """
                        .formatted(
                                postgres ? "'infinity'" : H2_NEVER,
                                postgres
                                        ? "SELECT count(*) FROM (SELECT 1 %s LIMIT %d) w"
                                                .formatted(waiting, Inspector.COUNTED)
                                        : "SELECT count(*) " + waiting));
    }

    // ---- end of the outbox ----

    String newIds() {
        return of(
                """
                SELECT tenant, caller, count(*) AS commands FROM SCHEMA.command_dedup WHERE started_at > %s
                GROUP BY tenant, caller ORDER BY count(*) DESC, tenant, caller LIMIT ?\
                """
                        .formatted(
                                postgres
                                        ? "pg_catalog.now() - ? * interval '1 microsecond'"
                                        : "DATEADD(MICROSECOND, -CAST(? AS BIGINT),"
                                                + " CURRENT_TIMESTAMP(6))"));
    }

    String sizes() {
        return of(
                postgres
                        ? """
                        SELECT c.relname AS table_name, greatest(c.reltuples, 0)::bigint AS row_estimate,
                            pg_catalog.pg_table_size(c.oid) AS table_bytes, pg_catalog.pg_indexes_size(c.oid) AS index_bytes
                        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                        WHERE n.nspname = 'SCHEMA' AND c.relkind = 'r'
                        ORDER BY pg_catalog.pg_total_relation_size(c.oid) DESC, c.relname LIMIT ?\
                        """
                        : """
                        SELECT lower(table_name) AS table_name, row_count_estimate AS row_estimate,
                            DISK_SPACE_USED(table_schema || '.' || table_name) AS table_bytes, 0 AS index_bytes
                        FROM information_schema.tables WHERE lower(table_schema) = 'SCHEMA'
                        ORDER BY row_count_estimate DESC, table_name LIMIT ?\
                        """);
    }

    /** Locks with keys of 64 bits have objsubid 1. */
    String inFlight() {
        return postgres
                ? """
                SELECT count(*) AS locks, count(DISTINCT l.pid) AS transactions,
                    count(DISTINCT l.pid) FILTER (WHERE a.state LIKE 'idle in transaction%') AS idle,
                    min(a.xact_start) AS since
                FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
                WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND l.mode = 'ExclusiveLock'
                    AND l.pid <> pg_catalog.pg_backend_pid()
                    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
                LIMIT ?\
                """
                : "SELECT 1 WHERE 1 > ?";
    }
}
