package io.onlyonce.demo.story;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.Schema;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.h2.tools.Server;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

/**
 * The database that the story happens in, and a schema of its own there, dropped at the end: a
 * database of yours is left as it was.
 */
final class Ground implements AutoCloseable {

    private static final Pattern URL =
            Pattern.compile("jdbc:(postgresql|h2:tcp)://([^:/?,\\[\\]]+)(?::([0-9]+))?(/.+)");

    /** What to say where {@link #accepts} is false. */
    static final String WHICH_URL =
            "--url must look like jdbc:postgresql://host:5432/database?user=…&password=…";

    private static final int CONNECTIONS = 10;

    private final AtomicBoolean closed = new AtomicBoolean();
    private final String url;
    private final AutoCloseable server;
    private final String schema =
            "onlyonce_demo_" + UUID.randomUUID().toString().replace("-", "").substring(0, 8);
    private final HikariDataSource pool;
    private final Wire wire;
    private final HikariDataSource overWire;
    private final String title;

    private Ground(String url, AutoCloseable server, String whose)
            throws IOException, SQLException {
        this.url = url;
        this.server = server;
        Matcher parts = URL.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException(WHICH_URL);
        }
        pool = pool(url, CONNECTIONS, CONNECTIONS);
        String port = Optional.ofNullable(parts.group(3)).orElse(isPostgres() ? "5432" : "9092");
        wire = new Wire(parts.group(2), Integer.parseInt(port));
        String detour =
                "jdbc:%s://127.0.0.1:%d%s".formatted(parts.group(1), wire.port(), parts.group(4));
        // Connections are made when wanted, so that a cut meets the one that it is meant for.
        overWire = pool(detour, 2, 0);
        Runtime.getRuntime().addShutdownHook(new Thread(this::closeAtLast, "tidy")); // after Ctrl-C
        Schema.apply(pool, schema);
        Waiting.until(
                CONNECTIONS + " connections are open",
                () -> pool.getHikariPoolMXBean().getTotalConnections() == CONNECTIONS);
        try (var connection = pool.getConnection()) {
            var about = connection.getMetaData();
            title =
                    "%s %s, %s"
                            .formatted(
                                    about.getDatabaseProductName(),
                                    about.getDatabaseProductVersion().split(" ")[0],
                                    whose);
        }
    }

    /** Your database. */
    static Ground at(String url) throws IOException, SQLException {
        return new Ground(url, () -> {}, "yours, in a schema that is dropped at the end");
    }

    /** True if the story can be told on a database with this URL. */
    static boolean accepts(String url) {
        return URL.matcher(url).matches();
    }

    /** A PostgreSQL from binaries, durable as in production. */
    static Ground embedded() throws IOException, SQLException {
        EmbeddedPostgres postgres = // whose builder would trade durability for speed
                EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "on")
                        .setServerConfig("synchronous_commit", "on")
                        .start();
        return new Ground(
                postgres.getJdbcUrl("postgres", "postgres"), postgres, "started for this story");
    }

    /** H2 behind a socket, because a process that is killed needs a database outside of it. */
    static Ground h2() throws IOException, SQLException {
        Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        return new Ground(
                "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/mem:demo;DB_CLOSE_DELAY=-1",
                server::stop,
                "started for this story");
    }

    String title() {
        return title;
    }

    String url() {
        return url;
    }

    String schema() {
        return schema;
    }

    DataSource pool() {
        return pool;
    }

    /** The same database at the end of a line that can be cut. */
    DataSource overWire() {
        return overWire;
    }

    Wire wire() {
        return wire;
    }

    boolean isPostgres() {
        return url.startsWith("jdbc:postgresql:");
    }

    /** So many connections, of which so many are kept open. */
    static HikariDataSource pool(String url, int size, int open) {
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        if (url.startsWith("jdbc:h2:")) {
            config.setUsername("sa");
        }
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(open);
        config.setConnectionTimeout(10_000);
        return new HikariDataSource(config);
    }

    @Override
    public void close() throws Exception {
        if (closed.getAndSet(true)) {
            return;
        }
        try (server;
                pool;
                wire;
                overWire) {
            try (var connection = pool.getConnection();
                    var statement = connection.createStatement()) {
                statement.execute("DROP SCHEMA IF EXISTS " + schema + " CASCADE");
            }
        }
    }

    private void closeAtLast() {
        try {
            close();
        } catch (Exception e) {
            System.err.println("The schema " + schema + " may be left: " + e.getMessage());
        }
    }
}
