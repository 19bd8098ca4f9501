package io.onlyonce.retention;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Claim;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandIds;
import io.onlyonce.command.CommandScope;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.payload.PayloadHash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

/** Rows of every age. */
final class Attic {

    static final Duration LONG = Duration.ofMinutes(1);

    private Attic() {}

    static void open(TestDatabase db) throws SQLException {
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE audit (command varchar(255) NOT NULL)");
    }

    static OnlyOnce once(DataSource dataSource) throws SQLException {
        return OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
    }

    static void indexTombstones(TestDatabase db) throws SQLException, IOException {
        String folder = db.isPostgres() ? "postgresql" : "h2";
        db.execute(Files.readString(Path.of("sql", folder, "tombstones.sql")));
    }

    static Command command(String operation, String id) {
        return Command.of(
                new CommandScope("acme", "teller", operation), id, PayloadHash.ofJson("{}"));
    }

    /** A completed command, with a new id. */
    static String run(OnlyOnce once, String operation) throws SQLException {
        String id = Markers.MARK + operation + "-" + CommandIds.next();
        once.commands().run(command(operation, id), String.class, work -> "receipt of " + id);
        return id;
    }

    /** A claim of the low road that was committed without a completion. */
    static String leave(OnlyOnce once, TestDatabase db, String operation) throws SQLException {
        String id = Markers.MARK + operation + "-" + CommandIds.next();
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            Claim claim = once.dedup().tryStart(connection, command(operation, id));
            if (!(claim instanceof Claim.Started)) {
                throw new AssertionError(claim.toString());
            }
            connection.commit();
        }
        return id;
    }

    /** Moves a finished command into the past, as if it had run so many days ago. */
    static void age(TestDatabase db, String id, int days) throws SQLException {
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - INTERVAL '%1$d' DAY, finished_at = finished_at - INTERVAL '%1$d' DAY, expires_at = expires_at - INTERVAL '%1$d' DAY, forget_at = forget_at - INTERVAL '%1$d' DAY WHERE command_id = '%2$s'"
                        .formatted(days, id));
    }

    /** So many completed commands that were forgotten, each at a time of its own; quickly. */
    static void fill(TestDatabase db, String operation, int rows) throws SQLException {
        String series =
                db.isPostgres()
                        ? "generate_series(1, %d) AS s (n)".formatted(rows)
                        : "SYSTEM_RANGE(1, %d) AS s (n)".formatted(rows);
        String hash =
                db.isPostgres() ? "decode(repeat('00', 32), 'hex')" : "X'" + "00".repeat(32) + "'";
        String result = db.isPostgres() ? "'x'::bytea" : "X'78'";
        String past = "CURRENT_TIMESTAMP - INTERVAL '20' DAY + n * INTERVAL '1' SECOND";
        db.execute(
                """
                INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status, hash_version,
                    command_id, operation, caller, tenant, payload_hash, content_tag, result)
                SELECT %1$s, %1$s, %1$s, %1$s, 1, 1, '%2$s-' || n, '%2$s', 'teller', 'acme', %3$s, 'json', %4$s FROM %5$s\
                """
                        .formatted(past, operation, hash, result, series));
    }

    static long rows(TestDatabase db, String operation) throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE operation = '"
                        + operation
                        + "'");
    }

    static long archived(TestDatabase db, String operation) throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_archive WHERE operation = '"
                        + operation
                        + "'");
    }

    static boolean isThere(TestDatabase db, String id) throws SQLException {
        return db.count(
                        "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '"
                                + id
                                + "'")
                == 1;
    }
}
