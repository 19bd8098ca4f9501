package io.onlyonce.ground;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import javax.sql.DataSource;

/**
 * A fresh, empty database of one's own, gone after {@link #close()}.
 *
 * <p>Safe for use by many threads. Pools made here are closed with it; a pool with connections
 * still in use by then fails the close, because someone forgot to give them back.
 */
public final class TestDatabase implements AutoCloseable {

    private static final Duration GRACE = Duration.ofSeconds(2);

    private final Backing backing;
    private boolean hostile;
    private final List<HikariDataSource> pools = new CopyOnWriteArrayList<>();

    private TestDatabase(Backing backing) {
        this.backing = backing;
    }

    /** A new database on the PostgreSQL server of this JVM. */
    public static TestDatabase postgres() throws SQLException {
        return postgresOn(PostgresServer.shared());
    }

    /** A new database on a server of one's own. */
    public static TestDatabase postgresOn(PostgresServer server) throws SQLException {
        return new TestDatabase(Backing.Postgres.create(server.address(), uniqueName()));
    }

    /** A new H2 database in memory. */
    public static TestDatabase h2() {
        return new TestDatabase(new Backing.H2(uniqueName()));
    }

    public boolean isPostgres() {
        return backing instanceof Backing.Postgres;
    }

    public String url() {
        return backing.url();
    }

    public String user() {
        return backing.user();
    }

    public String password() {
        return backing.password();
    }

    /** The driver's own data source: a new connection each time. */
    public DataSource dataSource() {
        return DataSources.unpooled(url(), user(), password());
    }

    public Connection connect() throws SQLException {
        return dataSource().getConnection();
    }

    /** A pool of at most so many connections, closed with this database. */
    public HikariDataSource pool(int size) {
        return pool(size, config -> {});
    }

    /** A pool with settings of one's own, closed with this database. */
    public HikariDataSource pool(int size, Consumer<HikariConfig> settings) {
        return pool(dataSource(), size, settings);
    }

    /** Where the server listens, for a proxy in front of it; PostgreSQL only. */
    public FaultProxy.Target target() {
        return new FaultProxy.Target(address().host(), address().port());
    }

    /** The URL of this database seen through a proxy, for a {@link ChildJvm}. */
    public String urlThrough(FaultProxy proxy) {
        return address().through(proxy).url();
    }

    /** This database seen through a proxy, unpooled. */
    public DataSource through(FaultProxy proxy) {
        return address().through(proxy).dataSource();
    }

    /** A pool whose connections pass a proxy, closed with this database. */
    public HikariDataSource poolThrough(FaultProxy proxy, int size) {
        return poolThrough(proxy, size, config -> {});
    }

    /** A pool with settings of one's own whose connections pass a proxy. */
    public HikariDataSource poolThrough(
            FaultProxy proxy, int size, Consumer<HikariConfig> settings) {
        return pool(through(proxy), size, settings);
    }

    /** Runs one or more statements, committed at once. */
    public void execute(String sql) throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** Its ids are made up by a fuzzer, so they need not carry the mark. */
    public TestDatabase withHostileIds() {
        hostile = true;
        return this;
    }

    /** The number in the first column of the first row. */
    public long count(String sql) throws SQLException {
        return value(sql, Number.class).orElseThrow().longValue();
    }

    /** The first column of the first row; empty if there is no row or it is NULL. */
    public <T> Optional<T> value(String sql, Class<T> type) throws SQLException {
        try (var connection = connect();
                var statement = connection.createStatement();
                var rows = statement.executeQuery(sql)) {
            return rows.next()
                    ? Optional.ofNullable(type.cast(rows.getObject(1)))
                    : Optional.empty();
        }
    }

    /**
     * Closes the pools, ends what is still connected and drops the database.
     *
     * @throws AssertionError if a pool had connections in use
     */
    @Override
    public void close() throws Exception {
        List<HikariDataSource> leaking = pools.stream().filter(TestDatabase::leaks).toList();
        pools.forEach(HikariDataSource::close);
        if (!hostile) {
            Markers.look(this);
        }
        backing.drop();
        if (!leaking.isEmpty()) {
            throw new AssertionError("connections never given back to " + leaking);
        }
    }

    private HikariDataSource pool(DataSource source, int size, Consumer<HikariConfig> settings) {
        var config = new HikariConfig();
        config.setDataSource(source);
        config.setMaximumPoolSize(size);
        config.setConnectionTimeout(Duration.ofSeconds(10).toMillis());
        settings.accept(config);
        var pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    /** Callers that were just told "done" may still be on their way out: hence the grace. */
    private static boolean leaks(HikariDataSource pool) {
        if (pool.isClosed()) {
            return false;
        }
        var inUse = pool.getHikariPoolMXBean();
        long end = System.nanoTime() + GRACE.toNanos();
        while (inUse.getActiveConnections() > 0 && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        return inUse.getActiveConnections() > 0;
    }

    private PgAddress address() {
        if (backing instanceof Backing.Postgres postgres) {
            return postgres.address();
        }
        throw new IllegalStateException("H2 in memory has no network to put a proxy into");
    }

    private static String uniqueName() {
        return "oo_" + UUID.randomUUID().toString().replace("-", "");
    }
}
