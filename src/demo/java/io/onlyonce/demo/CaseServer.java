package io.onlyonce.demo;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

import io.onlyonce.OnlyOnce;
import io.onlyonce.http.HttpIdempotency;
import io.onlyonce.http.HttpOperation;
import io.onlyonce.http.IdempotencyKey;
import io.onlyonce.http.RequestParts;
import io.onlyonce.http.StoredResponse;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.PublishResult;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import javax.sql.DataSource;

/** The case management on the JDK's own HTTP server: all that an adapter has to do. */
final class CaseServer implements AutoCloseable {

    private static final int LARGEST_BODY = 64 * 1024;

    private record Principal(String tenant, String caller) {}

    /** Who a token stands for. */
    private static final Map<String, Principal> TOKENS =
            Map.of(
                    "Bearer acme-portal", new Principal("acme", "portal"),
                    "Bearer acme-mobile", new Principal("acme", "mobile"),
                    "Bearer globex-portal", new Principal("globex", "portal"));

    private final DataSource dataSource;
    private final HttpIdempotency http;
    private final OutboxRelay relay;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newFixedThreadPool(16);

    CaseServer(DataSource dataSource, int port) throws IOException, SQLException {
        this.dataSource = dataSource;
        OnlyOnce once = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
        http = HttpIdempotency.on(once);
        relay = once.relay(CaseServer::print);
        server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
    }

    void start() {
        relay.start();
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() throws InterruptedException {
        server.stop(1);
        threads.shutdown();
        relay.stop(Duration.ofSeconds(2));
    }

    /** Stands for a broker. */
    private static List<PublishResult> print(List<OutboxEvent> events) {
        return events.stream()
                .peek(event -> System.out.println("event " + event.type() + " " + event.key()))
                .map(event -> PublishResult.published())
                .toList();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            StoredResponse response;
            try {
                response = answer(exchange);
            } catch (SQLException | RuntimeException e) { // rolled back: the key is free
                System.err.println(exchange.getRequestMethod() + " failed: " + e);
                response =
                        CaseApi.problem(503, "UNAVAILABLE", "Send the same request again.")
                                .withHeader("Retry-After", "1");
            }
            response.headers().forEach(exchange.getResponseHeaders()::put);
            byte[] body = response.body();
            exchange.sendResponseHeaders(response.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    private StoredResponse answer(HttpExchange exchange) throws IOException, SQLException {
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
        var headers = exchange.getRequestHeaders();
        Principal who = TOKENS.get(headers.getOrDefault("Authorization", List.of("")).get(0));
        if (who == null) { // before anything is looked up
            return CaseApi.problem(401, "UNAUTHENTICATED", "Send a token that is known here.")
                    .withHeader("WWW-Authenticate", "Bearer");
        }
        if (body.length > LARGEST_BODY) {
            return CaseApi.problem(413, "TOO_LARGE", "Send at most 64 KB.");
        }
        List<String> path = segments(exchange.getRequestURI().getRawPath());
        if (exchange.getRequestMethod().equals("GET")) {
            return read(who, path);
        }
        Optional<HttpOperation> operation =
                CaseApi.ALL.stream().filter(o -> matches(o, path)).findFirst();
        if (operation.isEmpty() || !CaseApi.isId(path.get(1))) {
            return notFound();
        }
        if (!exchange.getRequestMethod().equals(operation.get().method())) {
            return CaseApi.problem(405, "METHOD_NOT_ALLOWED", "Use POST.")
                    .withHeader("Allow", "POST");
        }
        String type = headers.getOrDefault("Content-Type", List.of("")).get(0);
        if (!type.startsWith("application/json")) {
            return CaseApi.problem(415, "NOT_JSON", "Send application/json.");
        }
        RequestParts request =
                RequestParts.of(who.tenant(), who.caller())
                        .withKey(headers.get(IdempotencyKey.HEADER))
                        .withPath("caseId", path.get(1))
                        .withQuery(exchange.getRequestURI().getRawQuery())
                        .withBody(type, body)
                        .about("CaseFile", path.get(1));
        return http.handle(operation.get(), request, work -> CaseApi.handle(operation.get(), work));
    }

    private StoredResponse read(Principal who, List<String> path) throws SQLException {
        if (path.size() == 3 && path.get(0).equals("status")) {
            for (HttpOperation operation : CaseApi.ALL) {
                if (operation.name().equals(path.get(1))) {
                    return http.status(operation, who.tenant(), who.caller(), path.get(2));
                }
            }
        }
        if (path.size() == 2 && path.get(0).equals("cases") && CaseApi.isId(path.get(1))) {
            try (var connection = dataSource.getConnection()) {
                return CaseApi.show(connection, who.tenant(), path.get(1));
            }
        }
        return notFound();
    }

    private static StoredResponse notFound() {
        return CaseApi.problem(404, "NOT_FOUND", "There is nothing here.");
    }

    private static boolean matches(HttpOperation operation, List<String> path) {
        List<String> route = segments(operation.route());
        return path.size() == 3
                && path.get(0).equals(route.get(0))
                && path.get(2).equals(route.get(2));
    }

    private static List<String> segments(String rawPath) {
        return Arrays.stream(rawPath.split("/"))
                .skip(1)
                .map(s -> URLDecoder.decode(s.replace("+", "%2B"), StandardCharsets.UTF_8))
                .toList();
    }
}
