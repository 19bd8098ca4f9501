package io.onlyonce.torture;

import io.onlyonce.Schema;
import io.onlyonce.ground.PostgresServer;
import io.onlyonce.ground.TestDatabase;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A database of its own and three clients, which live through wave after wave of histories. */
final class Ground implements AutoCloseable {

    private static final Duration PUBLISHED_WITHIN = Duration.ofSeconds(20);

    private final PostgresServer server;
    private final TestDatabase database;
    private final long seed;
    private final Path folder;
    private final List<Member> members = new ArrayList<>();
    private final ExecutorService hands = Executors.newFixedThreadPool(Plan.CLIENTS + 1);
    private final AtomicInteger calls = new AtomicInteger();

    Ground(PostgresServer server, long seed, Path folder, Startup startup) throws Exception {
        this.server = server;
        this.seed = seed;
        this.folder = folder;
        database = TestDatabase.postgresOn(server);
        Schema.apply(database.dataSource());
        database.execute(Ledger.TABLES);
        database.execute(Ledger.WITNESSES);
        String name = database.value("SELECT current_database()", String.class).orElseThrow();
        database.execute(
                "ALTER DATABASE " + name + " SET idle_in_transaction_session_timeout = '1s'");
        String[] url = database.url().replaceFirst("jdbc:postgresql://", "").split("[:/]");
        List<String> address = List.of(url[0], url[1], url[2], database.user());
        for (int i = 0; i < Plan.CLIENTS; i++) {
            members.add(new Member(startup, i, seed, address, calls::incrementAndGet));
        }
    }

    /** A server that notices, as the README advises, when connections die in silence. */
    static PostgresServer server() throws SQLException {
        PostgresServer server = PostgresServer.startPrivate();
        try (var database = TestDatabase.postgresOn(server)) {
            database.execute("ALTER SYSTEM SET tcp_user_timeout = '2s'");
            database.execute("ALTER SYSTEM SET log_min_messages = 'panic'");
            database.execute("SELECT pg_reload_conf()");
        } catch (Exception e) {
            throw new IllegalStateException("the server could not be set up", e);
        }
        return server;
    }

    /** What a wave left behind, and whether the server was crashed under it. */
    record Wave(List<Evidence> evidence, boolean restarted) {}

    /** Lives through these histories, lets them come to an end, and collects what is left. */
    Wave live(int wave, int first, int count) throws Exception {
        Path files = folder.resolve("wave-" + wave);
        Files.createDirectories(files);
        List<Plan> plans = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            plans.add(Plan.of(seed, first + i));
        }
        List<String> tenants = plans.stream().map(Plan::tenant).toList();
        try (var connection = database.connect()) {
            Ledger.open(connection, tenants);
        }
        int all =
                plans.stream()
                        .mapToInt(plan -> plan.callers().stream().mapToInt(List::size).sum())
                        .sum();
        calls.set(0);
        var restartAfter = Plan.restartAfter(seed, wave, all);
        String order = " " + first + " " + count + " " + files.toAbsolutePath();
        List<Future<?>> wavers = order("wave" + order);
        if (restartAfter.isPresent()) {
            while (calls.get() < restartAfter.get() && wavers.stream().anyMatch(f -> !f.isDone())) {
                LockSupport.parkNanos(2_000_000);
            }
            server.restart();
        }
        join(wavers);
        join(order("settle" + order));
        awaitPublished();
        join(order("drain" + order));
        return new Wave(
                Evidence.collect(files, database.dataSource(), tenants), restartAfter.isPresent());
    }

    private List<Future<?>> order(String order) {
        List<Future<?>> given = new ArrayList<>();
        for (Member member : members) {
            given.add(
                    hands.submit(
                            (Callable<Void>)
                                    () -> {
                                        member.order(order);
                                        return null;
                                    }));
        }
        return given;
    }

    private static void join(List<Future<?>> given) throws IOException, InterruptedException {
        for (Future<?> each : given) {
            try {
                each.get();
            } catch (ExecutionException e) {
                throw new IOException("a client could not carry out its order", e.getCause());
            }
        }
    }

    /** Bounded: what is not published by then is the checker's to report. */
    private void awaitPublished() throws SQLException {
        long end = System.nanoTime() + PUBLISHED_WITHIN.toNanos();
        while (database.count(Ledger.UNPUBLISHED) > 0 && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** Everything somebody needs who was not there. */
    void keep(Wave wave, List<Checker.Violation> violations) throws IOException {
        var found = new StringBuilder();
        violations.forEach(violation -> found.append(violation).append('\n'));
        Files.writeString(folder.resolve("violations.txt"), found);
        var rows = new StringBuilder();
        for (Evidence evidence : wave.evidence()) {
            evidence.rows()
                    .forEach(
                            (table, all) ->
                                    all.forEach(
                                            row ->
                                                    rows.append(table)
                                                            .append(' ')
                                                            .append(row.values())
                                                            .append('\n')));
        }
        Files.writeString(folder.resolve("database.txt"), rows);
        keepLogs();
    }

    void keepLogs() throws IOException {
        for (int i = 0; i < members.size(); i++) {
            members.get(i).keepLog(folder.resolve("client-" + i + ".log"));
        }
    }

    @Override
    public void close() throws Exception {
        hands.shutdownNow();
        for (Member member : members) {
            member.close();
        }
        database.close();
    }
}
