package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.payload.JsonLimits;

import org.junit.jupiter.api.Test;

import java.util.List;

/** Which requests are refused and which are the same, on every database. */
abstract class HttpRequestContract extends HttpGround {

    HttpRequestContract(Opening opening) {
        super(opening);
    }

    @Test
    void a_missing_or_malformed_key_is_refused_before_anything_runs() throws Exception {
        StoredResponse missing =
                http.handle(OPEN, request().withKey(null), work -> write(work, 201));
        StoredResponse malformed =
                http.handle(OPEN, request().withKey(List.of(key)), work -> write(work, 201));
        StoredResponse several =
                http.handle(
                        OPEN,
                        request().withKey(List.of("\"a\"", "\"b\"")),
                        work -> write(work, 201));

        assertProblem(missing, ProblemCode.MISSING_IDEMPOTENCY_KEY);
        assertProblem(malformed, ProblemCode.INVALID_IDEMPOTENCY_KEY);
        assertProblem(several, ProblemCode.INVALID_IDEMPOTENCY_KEY);
        assertThat(several.bodyText()).contains("more than one");
        assertThat(runs).hasValue(0);
    }

    @Test
    void a_body_without_a_single_meaning_is_refused_before_anything_runs() throws Exception {
        StoredResponse response =
                http.handle(OPEN, request("{\"a\":1,\"a\":2}"), work -> write(work, 201));

        assertProblem(response, ProblemCode.INVALID_PAYLOAD);
        assertThat(response.bodyText()).contains("\"reason\":\"DUPLICATE_KEY\"");
        assertThat(runs).hasValue(0);
    }

    @Test
    void json_limits_are_a_setting() throws Exception {
        HttpIdempotency flat = http.withJsonLimits(JsonLimits.DEFAULTS.withDepth(1));

        assertProblem(
                flat.handle(OPEN, request("[[]]"), w -> write(w, 201)),
                ProblemCode.INVALID_PAYLOAD);
        assertThat(http.handle(OPEN, request("[[]]"), w -> write(w, 201)).status()).isEqualTo(201);
    }

    @Test
    void a_request_without_a_value_for_each_variable_is_a_mistake_of_the_server() {
        RequestParts forgotten = RequestParts.of("acme", "portal").withKey(List.of("\"k\""));

        assertThatThrownBy(() -> http.handle(OPEN, forgotten, w -> write(w, 201)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> http.command(OPEN, forgotten))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(runs).hasValue(0);
    }

    @Test
    void the_handler_sees_its_request_and_operators_what_it_is_about() throws Exception {
        http.handle(
                OPEN,
                request().about("Region", "north"),
                work -> {
                    assertThat(work.request().path("region")).isEqualTo("north");
                    assertThat(work.command().orElseThrow().id()).isEqualTo(key);
                    return write(work, 201);
                });
        try (var connection = db.connect()) {
            var info = once.dedup().find(connection, command().scope(), key);
            assertThat(info.resourceType()).hasValue("Region");
            assertThat(info.resourceId()).hasValue("north");
        }
    }

    @Test
    void another_request_under_the_key_is_refused_and_told_nothing() throws Exception {
        send(201);
        for (RequestParts other :
                List.of(
                        request("{\"subject\":\"roof\"}"),
                        request().withPath("region", "south"),
                        request().withQuery("urgent=1"),
                        request().withBody("text/plain", request().body()))) {
            StoredResponse response = http.handle(OPEN, other, work -> write(work, 201));

            assertProblem(response, ProblemCode.IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_REQUEST);
            assertThat(response.headers()).containsOnlyKeys("Content-Type");
            assertThat(response.bodyText()).doesNotContain("run", "fence", "/cases/");
        }
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void another_spelling_of_the_same_json_is_a_replay() throws Exception {
        send(201);
        StoredResponse response =
                http.handle(
                        OPEN, request(" { \"subject\" : \"f\\u0065nce\" } "), w -> write(w, 201));
        assertThat(response.isReplayed()).isTrue();
    }

    @Test
    void a_key_of_another_tenant_caller_or_operation_is_another_key() throws Exception {
        send(201);
        HttpOperation close = HttpOperation.of("case.close", "POST", OPEN.route());

        assertThat(
                        List.of(
                                http.handle(
                                        OPEN,
                                        requestOf("globex", "portal", "{}"),
                                        w -> write(w, 409)),
                                http.handle(
                                        OPEN,
                                        requestOf("acme", "mobile", "{}"),
                                        w -> write(w, 409)),
                                http.handle(close, request("{}"), w -> write(w, 409))))
                .noneMatch(StoredResponse::isReplayed)
                .allMatch(response -> response.status() == 409);
        assertThat(runs).hasValue(4);
    }
}
