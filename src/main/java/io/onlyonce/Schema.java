package io.onlyonce;

import io.onlyonce.sql.Database;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.tx.TransactionOptions;
import io.onlyonce.tx.TransactionTemplate;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import javax.sql.DataSource;

/**
 * The tables of OnlyOnce: created when asked, never otherwise.
 *
 * <p>The SQL is in the jar under {@code sql/postgresql} and {@code sql/h2}, numbered, to be copied
 * into Flyway or Liquibase instead.
 */
public final class Schema {

    private static final List<String> MIGRATIONS = List.of("V1__onlyonce.sql");

    private static final List<String> TABLES =
            List.of(
                    "command_dedup",
                    "command_archive",
                    "outbox_event",
                    "outbox_lease",
                    "outbox_relay",
                    "outbox_blocked",
                    "inbox_message",
                    "projection_version",
                    "key_budget");

    private static final TransactionOptions OPTIONS =
            TransactionOptions.readCommitted()
                    .withLockTimeout(Duration.ofSeconds(60))
                    .poolAutoCommitOff();

    /** The catalogue, because information_schema hides what the role has no privilege on. */
    private static final String PG_TABLE =
            "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
                    + " ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?";

    private static final String FUNCTION =
            "SELECT 1 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n"
                    + " ON n.oid = p.pronamespace WHERE n.nspname = ? AND p.proname = ?";

    private static final String H2_TABLE =
            "SELECT 1 FROM information_schema.tables WHERE lower(table_schema) = ? AND"
                    + " lower(table_name) = ?";

    private static final String H2_INDEX =
            "SELECT 1 FROM information_schema.indexes WHERE lower(index_schema) = ? AND"
                    + " lower(index_name) = ?";

    private Schema() {}

    /** Brings the schema {@code onlyonce} up to date; does nothing if it is. */
    public static void apply(DataSource dataSource) throws SQLException {
        apply(dataSource, SchemaName.DEFAULT.value());
    }

    /**
     * Brings the schema of this name up to date; does nothing if it is. Several processes may do so
     * at once: one works, the others wait for it, for a minute at most. On PostgreSQL it happens in
     * one transaction, or not at all.
     */
    public static void apply(DataSource dataSource, String schema) throws SQLException {
        var name = new SchemaName(schema);
        new TransactionTemplate(dataSource, OPTIONS)
                .execute(connection -> migrate(connection, name));
    }

    /**
     * Throws {@link SchemaOutdatedException}, in one sentence, if {@code onlyonce} is missing or
     * too old.
     */
    public static void verify(DataSource dataSource) throws SQLException {
        verify(dataSource, SchemaName.DEFAULT.value());
    }

    /**
     * Throws {@link SchemaOutdatedException}, in one sentence, if the schema of this name is
     * missing or too old.
     */
    public static void verify(DataSource dataSource, String schema) throws SQLException {
        var name = new SchemaName(schema);
        new TransactionTemplate(dataSource, OPTIONS)
                .execute(connection -> verify(connection, name));
    }

    /** Without the index, a search for expired results would read all commands every time. */
    static void verifyTombstones(DataSource dataSource, SchemaName name) throws SQLException {
        String index = "command_dedup_tombstone";
        boolean isThere =
                new TransactionTemplate(dataSource, OPTIONS)
                        .execute(
                                connection ->
                                        found(
                                                connection,
                                                postgres(connection) ? PG_TABLE : H2_INDEX,
                                                name.value(),
                                                index));
        if (!isThere) {
            throw SchemaOutdatedException.missingIndex(name.value(), index);
        }
    }

    /** Returns the version that the schema is at afterwards. */
    private static int migrate(Connection connection, SchemaName name) throws SQLException {
        Database database = Database.of(connection);
        try (Statement statement = connection.createStatement()) {
            if (database.name().equals("postgresql")) {
                // Defaults and checks must bind to the server's own functions.
                statement.execute("SET LOCAL search_path = pg_catalog");
                statement.execute(
                        "SELECT pg_advisory_xact_lock(hashtextextended('onlyonce/schema/"
                                + name
                                + "', 0))");
            }
            for (int version = version(connection, name) + 1;
                    version <= MIGRATIONS.size();
                    version++) {
                run(statement, database, name.in(resource(database, MIGRATIONS.get(version - 1))));
            }
        }
        return MIGRATIONS.size();
    }

    /**
     * H2 commits each CREATE by itself, so nothing can keep two scripts apart, and two that collide
     * fail one. There every statement may be repeated, and each collision means that somebody got
     * further: ask again.
     */
    private static void run(Statement statement, Database database, String script)
            throws SQLException {
        int attempts = database.name().equals("h2") ? 50 : 1;
        for (int attempt = 1; ; attempt++) {
            try {
                statement.execute(script);
                return;
            } catch (SQLException e) {
                if (attempt == attempts) {
                    throw e;
                }
            }
        }
    }

    private static int verify(Connection connection, SchemaName name) throws SQLException {
        int version = version(connection, name);
        if (version < MIGRATIONS.size()) {
            throw SchemaOutdatedException.tooOld(name.value(), version, MIGRATIONS.size());
        }
        var missing = new ArrayList<String>();
        for (String table : TABLES) {
            if (!exists(connection, name, table)) {
                missing.add(table);
            }
        }
        if (postgres(connection)) {
            if (!found(connection, FUNCTION, name.value(), "refuse")) {
                missing.add("refuse()");
            }
        } else if (!exists(connection, name, "lock_stripe")) {
            missing.add("lock_stripe");
        }
        if (!missing.isEmpty()) {
            throw SchemaOutdatedException.missing(name.value(), missing);
        }
        return version;
    }

    private static int version(Connection connection, SchemaName name) throws SQLException {
        if (!exists(connection, name, "schema_version")) {
            return 0;
        }
        try (Statement statement = connection.createStatement();
                var row =
                        statement.executeQuery(
                                "SELECT coalesce(max(version), 0) FROM "
                                        + name
                                        + ".schema_version")) {
            row.next();
            return row.getInt(1);
        }
    }

    private static boolean exists(Connection connection, SchemaName name, String table)
            throws SQLException {
        return found(
                connection,
                postgres(connection) ? PG_TABLE : H2_TABLE,
                name.value(),
                table.toLowerCase(Locale.ROOT));
    }

    private static boolean postgres(Connection connection) throws SQLException {
        return Database.of(connection).name().equals("postgresql");
    }

    private static boolean found(Connection connection, String query, String schema, String name)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setString(1, schema);
            statement.setString(2, name);
            try (var row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private static String resource(Database database, String file) {
        String path = "/sql/" + database.name() + "/" + file;
        try (var stream = Schema.class.getResourceAsStream(path)) {
            if (stream == null) {
                throw new IllegalStateException(path + " is not in the jar; build it again.");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
