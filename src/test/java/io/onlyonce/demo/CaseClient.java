package io.onlyonce.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A client of the case management in another process, over real HTTP. */
final class CaseClient {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String base;
    private final String token;

    CaseClient(int port) {
        this("http://127.0.0.1:" + port, "acme-portal");
    }

    private CaseClient(String base, String token) {
        this.base = base;
        this.token = token;
    }

    /** The same server seen by somebody else. */
    CaseClient as(String token) {
        return new CaseClient(base, token);
    }

    HttpResponse<String> post(String path, String key, String body) {
        return postHeader(path, '"' + key + '"', body);
    }

    /** With the header's lines as they are given. */
    HttpResponse<String> postHeader(String path, String line, String body) {
        return send(request(path, body).header("Idempotency-Key", line).build());
    }

    HttpResponse<String> postWithoutKey(String path, String body) {
        return send(request(path, body).build());
    }

    CompletableFuture<HttpResponse<String>> postAsync(String path, String key, String body) {
        return client.sendAsync(
                request(path, body).header("Idempotency-Key", '"' + key + '"').build(),
                BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) {
        return send(authorized(path).GET().build());
    }

    private HttpRequest.Builder request(String path, String body) {
        return authorized(path)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
    }

    private HttpRequest.Builder authorized(String path) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(PATIENCE)
                .header("Authorization", "Bearer " + token);
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            return client.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
