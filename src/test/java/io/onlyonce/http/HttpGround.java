package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandIds;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.outbox.OutboxEvent;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** An endpoint that opens cases, and a new key for every test. */
abstract class HttpGround extends DatabaseContract {

    static final HttpOperation OPEN =
            HttpOperation.of("case.open", "POST", "/regions/{region}/cases");
    static final Duration PATIENCE = Duration.ofSeconds(30);
    OnlyOnce once;
    HttpIdempotency http;
    String key;
    final AtomicInteger runs = new AtomicInteger();

    HttpGround(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openTables() throws Exception {
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE effect (id varchar(255) NOT NULL, run int NOT NULL)");
        db.execute("CREATE TABLE taken (id varchar(255) PRIMARY KEY)");
        once =
                OnlyOnce.on(db.pool(16))
                        .withTtl(Duration.ofDays(7))
                        .withDefaults(
                                RunOptions.standard()
                                        .withInFlight(InFlightPolicy.waitUpTo(PATIENCE)))
                        .build();
        http = HttpIdempotency.on(once);
    }

    @BeforeEach
    void newKey() {
        key = Markers.MARK + CommandIds.next();
        runs.set(0);
    }

    RequestParts request(String body) {
        return requestOf("acme", "portal", body);
    }

    RequestParts requestOf(String tenant, String caller, String body) {
        return RequestParts.of(tenant, caller)
                .withKey(List.of('"' + key + '"'))
                .withPath("region", "north")
                .withBody("application/json", body.getBytes(StandardCharsets.UTF_8));
    }

    RequestParts request() {
        return request("{\"subject\":\"fence\"}");
    }

    /** Writes a row and an event, and answers with this status. */
    StoredResponse write(HttpWork work, int status) throws SQLException {
        int run = runs.incrementAndGet();
        execute(work, "INSERT INTO effect VALUES ('" + key + "', " + run + ")");
        work.outbox()
                .append(OutboxEvent.of("opened:" + key, "Case", key, "Opened", new byte[] {1}));
        return StoredResponse.of(status)
                .withHeader("Location", "/cases/" + key)
                .withHeader("Set-Cookie", "session=secret")
                .withHeader("Date", "now")
                .withJson("{\"run\":" + run + ",\"text\":\"\u00fc\\u0000\"}");
    }

    static void execute(HttpWork work, String sql) throws SQLException {
        try (var statement = work.connection().createStatement()) {
            statement.execute(sql);
        }
    }

    StoredResponse send(int status) throws SQLException {
        return http.handle(OPEN, request(), work -> write(work, status));
    }

    long effects() throws SQLException {
        return db.count("SELECT COUNT(*) FROM effect WHERE id = '" + key + "'");
    }

    long events() throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.outbox_event WHERE event_key = 'opened:"
                        + key
                        + "'");
    }

    long rows() throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '" + key + "'");
    }

    Command command() {
        return http.command(OPEN, request());
    }

    static void assertReplay(StoredResponse replay, StoredResponse first) {
        assertThat(replay.status()).isEqualTo(first.status());
        assertThat(replay.body()).isEqualTo(first.body());
        assertThat(replay.isReplayed()).isTrue();
        assertThat(replay.header("Idempotency-Replayed")).hasValue("true");
        assertThat(first.isReplayed()).isFalse();
        assertThat(replay.headers())
                .containsOnlyKeys("Content-Type", "Idempotency-Replayed", "Location");
        assertThat(replay.headers().get("Location")).isEqualTo(first.headers().get("Location"));
    }

    void assertProblem(StoredResponse response, ProblemCode code) {
        assertThat(response.bodyText()).contains("\"code\":\"" + code + "\"").doesNotContain(key);
        assertThat(response.header("Content-Type")).hasValue(ProblemDetails.MEDIA_TYPE);
        assertThat(response.status()).isEqualTo(code.details().status());
        assertThat(response.isReplayed()).isFalse();
    }
}
