package io.onlyonce.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.ChildJvm;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * {@code serve} as a user starts it: on a PostgreSQL of its own, with lines to try, until a signal.
 */
class ServeTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Test
    void the_printed_lines_work_and_a_signal_stops_everything() throws Exception {
        try (var server = ChildJvm.start(Serve.class, "port=0")) {
            String postgres = server.awaitLine("PostgreSQL at ", PATIENCE);
            server.awaitLine("# 200: what became of the case", PATIENCE);
            server.awaitLine("curl ");
            List<String> curls =
                    server.output().stream().filter(line -> line.startsWith("curl ")).toList();
            List<String> titles =
                    server.output().stream().filter(line -> line.startsWith("# ")).toList();

            assertThat(curls).hasSize(12).hasSameSizeAs(titles);
            for (int i = 0; i < curls.size(); i++) {
                String answer = shell(curls.get(i).replace("curl -i", "curl -sS -m 20 -i"));
                assertThat(answer)
                        .as(titles.get(i))
                        .startsWith("HTTP/1.1 " + titles.get(i).substring(2, 5));
                assertThat(answer.contains("Idempotency-replayed: true"))
                        .as(titles.get(i))
                        .isEqualTo(titles.get(i).contains("Replayed"));
            }
            server.awaitLine("event CaseApproved case-approved:CASE-1:2");

            shell("kill -TERM " + server.pid()); // Ctrl-C runs the same hook
            assertThat(server.exitCode(PATIENCE)).isEqualTo(143);
            assertThat(server.output()).contains("Stopped.");
            int port = Integer.parseInt(postgres.replaceAll("^.*:([0-9]+)/.*$", "$1"));
            Await.until(PATIENCE, () -> isClosed(port), "its PostgreSQL has gone");
        }
    }

    private static String shell(String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return output;
    }

    private static boolean isClosed(int port) {
        try (var socket = new Socket()) {
            socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
            return false;
        } catch (IOException e) {
            return true;
        }
    }
}
