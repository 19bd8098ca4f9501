package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.CommandIds;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Fault;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The network between server and database fails while a response is being committed. */
class HttpLostCommitTest extends DatabaseContract {

    private static final HttpOperation OPEN =
            HttpOperation.of("case.open", "POST", "/cases")
                    .withTransaction(
                            TransactionOptions.readCommitted()
                                    .withCommitTimeout(Duration.ofMillis(150))
                                    .withDeadline(Duration.ofSeconds(2)));

    private final AtomicInteger runs = new AtomicInteger();
    private FaultProxy proxy;
    private HikariDataSource pool;
    private HttpIdempotency http;
    private String key;

    HttpLostCommitTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void open() throws Exception {
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE effect (id text NOT NULL)");
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, 3, config -> config.setConnectionTimeout(1_000));
        http = HttpIdempotency.on(OnlyOnce.on(pool).withTtl(Duration.ofDays(1)).build());
    }

    @AfterAll
    void close() throws Exception {
        pool.close();
        proxy.close();
    }

    @BeforeEach
    void mend() {
        key = Markers.MARK + CommandIds.next();
        runs.set(0);
        proxy.pass();
        proxy.release();
    }

    private StoredResponse send(int status, Runnable last) throws SQLException {
        RequestParts request = RequestParts.of("acme", "portal").withKey(List.of('"' + key + '"'));
        return http.handle(
                OPEN,
                request,
                work -> {
                    try (var statement = work.connection().createStatement()) {
                        statement.execute("INSERT INTO effect VALUES ('" + key + "')");
                    }
                    last.run();
                    return StoredResponse.of(status)
                            .withHeader("Set-Cookie", "of the first caller")
                            .withJson("{\"run\":" + runs.incrementAndGet() + "}");
                });
    }

    private long effects() throws SQLException {
        return db.count("SELECT count(*) FROM effect WHERE id = '" + key + "'");
    }

    @ParameterizedTest
    @ValueSource(ints = {201, 409})
    void a_lost_answer_is_found_out_and_is_the_first_callers_own(int status) throws Exception {
        proxy.cutAnswer("COMMIT");

        StoredResponse response = send(status, () -> {});

        proxy.awaitFired();
        assertThat(response.status()).isEqualTo(status);
        assertThat(response.isReplayed()).isFalse();
        assertThat(response.header("Set-Cookie")).isPresent();
        assertThat(send(status, () -> {}).isReplayed()).isTrue();
        assertThat(runs).hasValue(1);
        assertThat(effects()).isEqualTo(status == 201 ? 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {201, 409})
    void a_lost_request_runs_the_handler_again(int status) throws Exception {
        proxy.cutRequest("COMMIT");

        StoredResponse response = send(status, () -> {});

        proxy.awaitFired();
        assertThat(response.bodyText()).isEqualTo("{\"run\":2}");
        assertThat(effects()).isEqualTo(status == 201 ? 1 : 0);
        StoredResponse again = send(status, () -> {});
        assertThat(again.bodyText()).isEqualTo("{\"run\":2}");
        assertThat(again.isReplayed()).isTrue();
    }

    @Test
    void what_cannot_be_found_out_in_time_is_said_to_be_unknown_and_may_be_repeated()
            throws Exception {
        StoredResponse unknown =
                send(201, () -> proxy.arm(Fault.CUT_ANSWER, "command_dedup", 100_000));

        assertThat(unknown.status()).isEqualTo(409);
        assertThat(unknown.bodyText())
                .contains("IDEMPOTENCY_OUTCOME_UNKNOWN", "\"retryable\":true", "\"reference\":\"")
                .doesNotContain(key);
        assertThat(unknown.header("Retry-After")).isPresent();
        proxy.pass();
        proxy.release();

        StoredResponse retry = send(201, () -> {});
        assertThat(retry.status()).isEqualTo(201);
        assertThat(retry.isReplayed()).isTrue();
        assertThat(effects()).isEqualTo(1);
    }
}
