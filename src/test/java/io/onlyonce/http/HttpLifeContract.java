package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.Claim;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.Resolution;
import io.onlyonce.ground.Race;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** What a key meets while its request runs, when it has expired and when nobody knows. */
abstract class HttpLifeContract extends HttpGround {

    HttpLifeContract(Opening opening) {
        super(opening);
    }

    /** Sends the request once more while it runs. */
    StoredResponse duplicateOf(HttpOperation operation) throws Exception {
        var running = new CountDownLatch(1);
        var answered = new CountDownLatch(1);
        var first =
                new FutureTask<>(
                        () ->
                                http.handle(
                                        operation,
                                        request(),
                                        work -> {
                                            running.countDown();
                                            await(answered);
                                            return write(work, 201);
                                        }));
        new Thread(first, "first-caller").start();
        await(running);
        StoredResponse duplicate;
        long start = System.nanoTime();
        try {
            duplicate = http.handle(operation, request(), work -> write(work, 201));
            // the default is to wait for as long as everything here may take
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(PATIENCE.dividedBy(2));
            StoredResponse status = http.status(operation, "acme", "portal", key);
            assertThat(status.bodyText()).contains("IN_FLIGHT");
            assertThat(status.header("Retry-After")).hasValue("1");
        } finally {
            answered.countDown();
        }
        assertThat(first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).status()).isEqualTo(201);
        assertThat(effects()).isEqualTo(1);
        return duplicate;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_duplicate_of_a_running_request_may_be_told_to_come_back() throws Exception {
        StoredResponse duplicate = duplicateOf(OPEN.withInFlight(InFlightPolicy.failFast()));

        assertProblem(duplicate, ProblemCode.IDEMPOTENCY_REQUEST_IN_PROGRESS);
        assertThat(duplicate.bodyText()).contains("\"retryable\":true");
        assertThat(duplicate.header("Retry-After")).hasValue("1");
    }

    @Test
    void a_duplicate_of_a_running_request_may_be_shown_where_to_ask() throws Exception {
        HttpOperation operation =
                OPEN.withInFlight(InFlightPolicy.failFast())
                        .withStatusLocation(
                                (request, key) ->
                                        "/status/" + request.tenant() + "/" + key.value());

        assertThat(http.status(operation, "acme", "portal", key).bodyText()).contains("NOT_FOUND");
        StoredResponse duplicate = duplicateOf(operation);

        assertThat(duplicate.status()).isEqualTo(202);
        assertThat(duplicate.header("Location")).hasValue("/status/acme/" + key);
        assertThat(duplicate.header("Retry-After")).hasValue("1");
        StoredResponse status = http.status(operation, "acme", "portal", key);
        assertThat(status.status()).isEqualTo(200);
        assertThat(status.header("Retry-After")).isEmpty();
        assertThat(status.bodyText()).contains("\"state\":\"FINAL\"", "Send the same request");
        assertThat(http.status(operation, "globex", "portal", key).bodyText())
                .contains("NOT_FOUND");
        assertThat(http.status(operation, "acme", "portal", "\u00fc").bodyText())
                .contains("NOT_FOUND");
        assertThat(http.handle(operation, request(), w -> write(w, 201)).isReplayed()).isTrue();
    }

    @Test
    @Tag("repeated")
    void concurrent_duplicates_have_one_effect_and_one_answer() throws Exception {
        for (int round = 0; round < 10; round++) {
            newKey();
            int status = round % 2 == 0 ? 201 : 409;
            List<StoredResponse> responses = Race.of(8, () -> send(status));

            assertThat(responses).filteredOn(r -> !r.isReplayed()).hasSize(1);
            assertThat(responses)
                    .extracting(StoredResponse::bodyText)
                    .containsOnly(responses.get(0).bodyText());
            assertThat(runs).hasValue(1);
            assertThat(effects()).isEqualTo(status == 201 ? 1 : 0);
            assertThat(rows()).isEqualTo(1);
        }
    }

    @Test
    void an_expired_key_is_refused() throws Exception {
        send(201);
        db.execute(
                "UPDATE onlyonce.command_dedup SET expires_at = started_at"
                        + " WHERE command_id = '"
                        + key
                        + "'");

        StoredResponse response = send(201);

        assertProblem(response, ProblemCode.IDEMPOTENCY_RECORD_EXPIRED);
        assertThat(http.status(OPEN, "acme", "portal", key).bodyText()).contains("EXPIRED");
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void each_operation_has_its_own_time_to_live() throws Exception {
        http.handle(OPEN.withTtl(Duration.ofHours(2)), request(), w -> write(w, 201));
        assertThat(lifetimes(Duration.ofHours(2))).isEqualTo(1);
        newKey();
        http.handle(OPEN, request(), w -> write(w, 201));
        assertThat(lifetimes(Duration.ofDays(7))).isEqualTo(1);
        newKey();
        http.handle(OPEN.withoutExpiry(), request(), w -> write(w, 201));
        try (var connection = db.connect()) {
            assertThat(once.dedup().find(connection, command().scope(), key).expiresAt()).isEmpty();
        }
    }

    private long lifetimes(Duration ttl) throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '%s' AND expires_at = started_at + INTERVAL '%d' SECOND"
                        .formatted(key, ttl.toSeconds()));
    }

    /** Its claim is committed on the low road and never completed. */
    private void leaveUnresolved() throws SQLException {
        try (var connection = db.connect()) {
            connection.setAutoCommit(false);
            assertThat(once.dedup().tryStart(connection, command()))
                    .isInstanceOf(Claim.Started.class);
            connection.commit();
        }
    }

    private void resolve(Resolution resolution) throws SQLException {
        try (var connection = db.connect()) {
            connection.setAutoCommit(false);
            once.dedup().resolve(connection, command().scope(), key, resolution, "ann", "looked");
            connection.commit();
        }
    }

    @Test
    void an_unknown_outcome_has_a_reference_that_hides_the_key() throws Exception {
        leaveUnresolved();
        StoredResponse response = send(201);

        assertProblem(response, ProblemCode.IDEMPOTENCY_OUTCOME_UNKNOWN);
        assertThat(response.bodyText())
                .contains("\"reference\":\"" + command() + "\"", "\"retryable\":false");
        assertThat(http.status(OPEN, "acme", "portal", key).bodyText()).contains("OUTCOME_UNKNOWN");
        assertThat(runs).hasValue(0);
    }

    @Test
    void an_operator_settles_it_with_a_response_or_without() throws Exception {
        leaveUnresolved();
        var found = StoredResponse.of(201).withHeader("Location", "/cases/7").withJson("{}");
        resolve(Resolution.completed(found.toBytes()));
        assertReplay(send(201), found);

        newKey();
        leaveUnresolved();
        resolve(Resolution.completedWithoutResult());
        assertProblem(send(201), ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);

        newKey();
        leaveUnresolved();
        resolve(Resolution.completed("no response at all"));
        assertProblem(send(201), ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);

        newKey();
        leaveUnresolved();
        resolve(Resolution.completed("secret".getBytes(StandardCharsets.UTF_8)));
        StoredResponse response = send(201);
        assertProblem(response, ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);
        assertThat(response.bodyText()).doesNotContain("secret");
        assertThat(runs).hasValue(0);
    }
}
