package io.onlyonce.ground;

import org.testcontainers.postgresql.PostgreSQLContainer;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;

/**
 * A durable PostgreSQL server: what it acknowledges survives its crash.
 *
 * <p>{@link #shared()} is one per JVM and starts when first asked for: the server of {@code
 * ONLYONCE_TEST_URL} (a JDBC URL with a user who may create databases), else a container where a
 * Docker engine answers, else embedded binaries. It ends with the JVM.
 */
public final class PostgresServer implements AutoCloseable {

    /** Said in full, because builders and images trade durability for speed by default. */
    static final Map<String, String> SETTINGS =
            Map.of(
                    "fsync", "on",
                    "synchronous_commit", "on",
                    "full_page_writes", "on",
                    "wal_level", "logical",
                    "max_connections", "200",
                    "max_prepared_transactions", "10",
                    "deadlock_timeout", "200ms");

    private final PgAddress address;
    private final Optional<EmbeddedServer> embedded;

    private PostgresServer(PgAddress address, Optional<EmbeddedServer> embedded) {
        this.address = address;
        this.embedded = embedded;
    }

    /** The one server of this JVM; never close it. */
    public static PostgresServer shared() {
        return Shared.SERVER;
    }

    /**
     * A server of one's own, always embedded, for tests that crash it; starts in a second or two.
     */
    public static PostgresServer startPrivate() {
        EmbeddedServer embedded = EmbeddedServer.start();
        return new PostgresServer(embedded.address(), Optional.of(embedded));
    }

    /** A server that runs already, by a JDBC URL with a user who may create databases. */
    public static PostgresServer at(String url) {
        return new PostgresServer(PgAddress.parse(url), Optional.empty());
    }

    /**
     * Crashes this private server (no checkpoint, no goodbye) and returns once it has recovered on
     * the same port. Connections of before are broken.
     */
    public void restart() throws IOException, InterruptedException {
        embedded.orElseThrow(() -> new IllegalStateException("only a private server can restart"))
                .restart();
    }

    /** The value of a server setting, as SHOW prints it. */
    public String show(String setting) throws SQLException {
        return show(address, setting);
    }

    /** Stops a private server and removes its data. */
    @Override
    public void close() {
        embedded.ifPresent(EmbeddedServer::close);
    }

    PgAddress address() {
        return address;
    }

    static String show(PgAddress address, String setting) throws SQLException {
        try (var connection = address.dataSource().getConnection();
                var statement = connection.createStatement();
                var rows = statement.executeQuery("SHOW " + setting)) {
            rows.next();
            return rows.getString(1);
        }
    }

    /** Started by class loading, so that racing tests start one server. */
    private static final class Shared {

        static final PostgresServer SERVER = choose();

        private static PostgresServer choose() {
            String url = System.getenv("ONLYONCE_TEST_URL");
            if (url != null && !url.isBlank()) {
                return announce("of ONLYONCE_TEST_URL", PgAddress.parse(url));
            }
            if (Docker.answers()) {
                return announce("in a container", container());
            }
            return announce("embedded", EmbeddedServer.start().address());
        }

        private static PgAddress container() {
            String version = System.getProperty("onlyonce.pg", "18");
            var container = new PostgreSQLContainer("postgres:" + version + "-alpine");
            var command = new StringBuilder("postgres");
            SETTINGS.forEach((name, value) -> command.append(" -c " + name + "=" + value));
            container.withCommand(command.toString()).start(); // Ryuk removes it after this JVM
            return new PgAddress(
                    container.getHost(),
                    container.getMappedPort(PostgreSQLContainer.POSTGRESQL_PORT),
                    container.getDatabaseName(),
                    container.getUsername(),
                    container.getPassword());
        }

        private static PostgresServer announce(String which, PgAddress address) {
            try {
                System.out.println(
                        "Tests run on PostgreSQL "
                                + show(address, "server_version")
                                + ", "
                                + which);
            } catch (SQLException e) {
                throw new IllegalStateException("PostgreSQL " + which + " does not answer", e);
            }
            return new PostgresServer(address, Optional.empty());
        }
    }
}
