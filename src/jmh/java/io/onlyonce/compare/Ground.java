package io.onlyonce.compare;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.PostgresServer;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;

import java.sql.SQLException;
import java.time.Duration;

/**
 * A fresh database with our tables and the business's, on the server of {@code ONLYONCE_BENCH_URL}
 * or on one of its own, which is durable.
 */
final class Ground implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final PostgresServer server;
    private final TestDatabase db;

    private Ground(PostgresServer server) throws SQLException {
        this.server = server;
        this.db = TestDatabase.postgresOn(server);
    }

    static Ground open() throws SQLException {
        String url = System.getenv("ONLYONCE_BENCH_URL");
        return on(
                url == null || url.isBlank()
                        ? PostgresServer.startPrivate()
                        : PostgresServer.at(url));
    }

    /** The same, on one server for all of this JVM. */
    static Ground openShared() throws SQLException {
        String url = System.getenv("ONLYONCE_BENCH_URL");
        return url == null || url.isBlank() ? on(PostgresServer.shared()) : open();
    }

    /** On a server that runs already, and is closed with it if it is private. */
    static Ground on(PostgresServer server) throws SQLException {
        var ground = new Ground(server);
        Schema.apply(ground.db.dataSource());
        Business.create(ground);
        return ground;
    }

    String version() throws SQLException {
        return server.show("server_version");
    }

    /** Full from the start; its connections default to this level, as a bare transaction needs. */
    HikariDataSource pool(int size, Isolation isolation) {
        return db.pool(size, config -> config.setTransactionIsolation(level(isolation)));
    }

    HikariDataSource poolThrough(FaultProxy proxy, Isolation isolation) {
        return db.poolThrough(proxy, 1, config -> config.setTransactionIsolation(level(isolation)));
    }

    private static String level(Isolation isolation) {
        return "TRANSACTION_" + isolation.name();
    }

    FaultProxy proxy() throws Exception {
        return FaultProxy.to(db.target());
    }

    void execute(String sql) throws SQLException {
        db.execute(sql);
    }

    long count(String sql) throws SQLException {
        return db.count(sql);
    }

    /** Closes the pool and waits for its backends to end, which is when they report statistics. */
    void settle(HikariDataSource pool) throws Exception {
        pool.close();
        Await.until(
                PATIENCE,
                () ->
                        count(
                                        "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                                + " current_database() AND backend_type = 'client"
                                                + " backend' AND pid <> pg_backend_pid()")
                                == 0,
                "the connections have ended");
    }

    /** All rolled back transactions of this database; settle first. */
    long rollbacks() throws SQLException {
        return count(
                "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()");
    }

    @Override
    public void close() throws Exception {
        try (server) {
            db.close();
        }
    }
}
