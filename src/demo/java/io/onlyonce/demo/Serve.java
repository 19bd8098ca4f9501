package io.onlyonce.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Starts the case-management API: {@code serve [port=8080] [url=jdbc:postgresql:… user=…
 * password=…]}. Without a URL it runs on an embedded PostgreSQL, which is gone after Ctrl-C.
 */
public final class Serve {

    private Serve() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> options =
                Arrays.stream(args)
                        .map(arg -> arg.split("=", 2))
                        .collect(Collectors.toMap(o -> o[0], o -> o.length > 1 ? o[1] : ""));
        var pool = new HikariConfig();
        pool.setMaximumPoolSize(10);
        pool.setConnectionTimeout(5_000);
        AutoCloseable database = database(options, pool);
        var dataSource = new HikariDataSource(pool);
        CaseTables.create(dataSource);
        var server =
                new CaseServer(dataSource, Integer.parseInt(options.getOrDefault("port", "8080")));
        Runtime.getRuntime()
                .addShutdownHook(new Thread(() -> stop(server, dataSource, database), "stop"));
        server.start();
        System.out.println("Listening on http://127.0.0.1:" + server.port() + ", until Ctrl-C");
        System.out.println("\nTry, in another terminal:\n");
        CurlLines.of(server.port()).forEach(System.out::println);
    }

    private static AutoCloseable database(Map<String, String> options, HikariConfig pool)
            throws IOException {
        if (options.containsKey("url")) {
            pool.setJdbcUrl(options.get("url"));
            pool.setUsername(options.getOrDefault("user", "postgres"));
            pool.setPassword(options.getOrDefault("password", ""));
            return () -> {};
        }
        EmbeddedPostgres postgres = // whose builder would trade durability for speed
                EmbeddedPostgres.builder()
                        .setServerConfig("fsync", "on")
                        .setServerConfig("synchronous_commit", "on")
                        .start();
        pool.setJdbcUrl(postgres.getJdbcUrl("postgres", "postgres"));
        System.out.println("PostgreSQL at " + pool.getJdbcUrl());
        return postgres;
    }

    private static void stop(AutoCloseable... parts) {
        for (AutoCloseable part : parts) {
            try {
                part.close();
            } catch (Exception e) {
                System.err.println("while stopping: " + e);
            }
        }
        System.out.println("Stopped.");
    }
}
