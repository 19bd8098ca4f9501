package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Claim;
import io.onlyonce.command.Command;
import io.onlyonce.payload.PayloadHash;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

import javax.sql.DataSource;

/** A command table of some size in a schema of its own. */
final class GrowthTable {

    private static final PayloadHash HASH = PayloadHash.ofJson(Business.payload(1));

    /** A UUID of version 7 made n milliseconds before now. */
    private static final String ORDERED =
            """
            (SELECT substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-7' || substr(m, 1, 3) || '-8' || substr(m, 4, 3)
                || '-' || substr(m, 7, 12)
            FROM (SELECT lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - n), 12, '0') AS h, md5(n::text) AS m) AS x)\
            """;

    private final Ground ground;
    private final DataSource pool;
    private final boolean ordered;
    private final int rows;
    private final String schema;
    private OnlyOnce once;
    private Optional<Pending> pending = Optional.empty();

    /** A claim whose transaction is still open, because only the claim is timed. */
    private record Pending(Connection connection, Claim.Started started) {}

    GrowthTable(Ground ground, DataSource pool, boolean ordered, int rows) {
        this.ground = ground;
        this.pool = pool;
        this.ordered = ordered;
        this.rows = rows;
        this.schema = (ordered ? "ordered_" : "random_") + rows;
    }

    static String name(boolean ordered, int rows) {
        return String.format(
                Locale.ROOT, "%,d rows, %s ids", rows, ordered ? "time-ordered" : "random");
    }

    String name() {
        return name(ordered, rows);
    }

    boolean ordered() {
        return ordered;
    }

    int rows() {
        return rows;
    }

    /** The indexes are taken away and built again at the end, which is what makes it quick. */
    void fill(int count) throws SQLException {
        Schema.apply(pool, schema);
        once = OnlyOnce.on(pool).withSchema(schema).withTtl(Duration.ofDays(7)).build();
        ground.execute(
                """
                SET maintenance_work_mem = '512MB';
                CREATE TEMP TABLE kept AS
                    SELECT indexdef AS ddl FROM pg_indexes
                    WHERE schemaname = '%1$s' AND tablename = 'command_dedup' AND indexname <> 'command_dedup_pkey'
                    UNION ALL
                    SELECT 'ALTER TABLE %1$s.command_dedup ADD CONSTRAINT command_dedup_pkey ' || pg_get_constraintdef(oid)
                    FROM pg_constraint
                    WHERE conname = 'command_dedup_pkey' AND conrelid = '%1$s.command_dedup'::regclass;
                ALTER TABLE %1$s.command_dedup DROP CONSTRAINT command_dedup_pkey;
                DO $$
                DECLARE
                    name text;
                BEGIN
                    FOR name IN SELECT indexname FROM pg_indexes
                        WHERE schemaname = '%1$s' AND tablename = 'command_dedup' LOOP
                        EXECUTE 'DROP INDEX %1$s.' || name;
                    END LOOP;
                END
                $$;
                INSERT INTO %1$s.command_dedup (started_at, finished_at, expires_at, forget_at, status,
                    hash_version, command_id, operation, caller, tenant, payload_hash, content_tag, result)
                SELECT now() - n * interval '1 millisecond', now(), now() + interval '7 days',
                    now() + interval '14 days' - n * interval '1 millisecond', 1, 11, %2$s, 'account.deposit', 'checkout',
                    'acme', decode(md5(n::text) || md5(n::text), 'hex'), 'json', '{"number":"1","account":1,"amount":10}'
                FROM generate_series(%3$d, 1, -1) AS n;
                DO $$
                DECLARE
                    ddl text;
                BEGIN
                    FOR ddl IN SELECT k.ddl FROM kept AS k LOOP
                        EXECUTE ddl;
                    END LOOP;
                END
                $$\
                """
                        .formatted(schema, ordered ? ORDERED : "gen_random_uuid()", count));
        ground.execute("VACUUM ANALYZE " + schema + ".command_dedup");
    }

    /** The claim alone; it is completed and committed before the next one. */
    Interleaved.Timed claim() throws SQLException {
        settle();
        Connection connection = pool.getConnection();
        connection.setAutoCommit(false);
        Command command = fresh();
        return () ->
                pending =
                        Optional.of(
                                new Pending(
                                        connection,
                                        (Claim.Started)
                                                once.dedup().tryStart(connection, command)));
    }

    void settle() throws SQLException {
        if (pending.isPresent()) {
            try (Connection connection = pending.get().connection()) {
                once.dedup().complete(connection, pending.get().started(), "done");
                connection.commit();
            }
            pending = Optional.empty();
        }
    }

    /** A whole command whose work does nothing. */
    Interleaved.Timed command() {
        Command command = fresh();
        return () -> once.commands().run(command, String.class, work -> "done");
    }

    private Command fresh() {
        return Command.of(Business.SCOPE, Growth.id(ordered), HASH);
    }
}
