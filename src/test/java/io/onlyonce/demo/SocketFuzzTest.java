package io.onlyonce.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.http.Fuzz;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Bytes on a socket, to a server of 128 MB: it answers, and goes on answering. */
class SocketFuzzTest extends DatabaseContract {

    private static final String[] PATHS = {
        "/cases/CASE-1/approvals", "/cases/CASE-2/primary-officer", "/cases/CASE-3/escalations"
    };

    SocketFuzzTest() {
        super(() -> TestDatabase.postgres().withHostileIds());
    }

    @Test
    void a_thousand_requests_get_documented_answers() throws Exception {
        fuzz(1_000, 3);
    }

    @Test
    @Tag("long")
    void ten_thousand_requests_get_documented_answers() throws Exception {
        fuzz(10_000, 4);
    }

    private void fuzz(int requests, long seed) throws Exception {
        try (var server =
                ChildJvm.start(
                        Serve.class,
                        "port=0",
                        "url=" + db.url(),
                        "user=" + db.user(),
                        "password=" + db.password())) {
            String line = server.awaitLine("Listening on ");
            int port = Integer.parseInt(line.replaceAll("^.*:([0-9]+),.*$", "$1"));
            var fuzz = new Fuzz(seed);
            Map<Integer, Integer> statuses = new TreeMap<>();
            int reset = 0;
            for (int i = 0; i < requests; i++) {
                try {
                    statuses.merge(status(port, request(fuzz, PATHS[i % 3])), 1, Integer::sum);
                } catch (SocketException e) { // refused before it had read everything
                    reset++;
                }
            }
            System.out.println("fuzz over a socket: " + statuses + ", " + reset + " reset");
            assertThat(Set.of(201, 400, 404, 409, 415, 422)).containsAll(statuses.keySet());
            assertThat(statuses).containsKeys(201, 400, 409, 415);
            assertThat(reset).isLessThan(requests / 100);
            assertThat(new CaseClient(port).get("/cases/CASE-1").statusCode()).isEqualTo(200);
            assertThat(server.errors()).isEmpty();
        }
    }

    private static byte[] request(Fuzz fuzz, String path) {
        byte[] body = fuzz.body();
        var head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n");
        head.append("Connection: close\r\nAuthorization: Bearer acme-portal\r\n");
        fuzz.key().forEach(line -> head.append("Idempotency-Key: ").append(line).append("\r\n"));
        head.append("Content-Type: ").append(fuzz.type()).append("\r\n");
        head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
        var bytes = new ByteArrayOutputStream();
        bytes.writeBytes(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        bytes.writeBytes(body);
        return bytes.toByteArray();
    }

    private static int status(int port, byte[] request) throws IOException {
        try (var socket = new Socket("127.0.0.1", port)) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request);
            var reader =
                    new BufferedReader(
                            new InputStreamReader(
                                    socket.getInputStream(), StandardCharsets.ISO_8859_1));
            String line = reader.readLine();
            if (line == null) {
                throw new SocketException("closed without an answer");
            }
            return Integer.parseInt(line.split(" ")[1]);
        }
    }
}
