package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.payload.InvalidPayloadException;
import io.onlyonce.payload.JsonLimits;
import io.onlyonce.payload.PayloadHash;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;

/** What makes two requests the same request. */
class FingerprintsTest {

    private static final HttpOperation APPROVE =
            HttpOperation.of("case.approve", "POST", "/cases/{caseId}/approvals");

    private static final RequestParts PARTS = json("{\"reason\":\"ok\",\"n\":1}");

    private static RequestParts json(String body) {
        return RequestParts.of("acme", "portal")
                .withPath("caseId", "CASE-1")
                .withQuery("dry=false")
                .withKey(List.of("\"k\""))
                .withBody("application/json", utf8(body));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static PayloadHash of(HttpOperation operation, RequestParts request) {
        return new Fingerprints(JsonLimits.DEFAULTS).of(operation, request);
    }

    private static PayloadHash of(RequestParts request) {
        return of(APPROVE, request);
    }

    @Test
    void spelling_of_json_and_key_do_not_matter() {
        assertThat(of(json("{ \"n\": 1.0, \"reason\": \"\\u006fk\" }"))).isEqualTo(of(PARTS));
        assertThat(of(PARTS.withKey(List.of("\"other\"")))).isEqualTo(of(PARTS));
        assertThat(of(PARTS.withBody("Application/JSON; charset=utf-8", PARTS.body())))
                .isEqualTo(of(PARTS));
        assertThat(of(PARTS.withBody("application/vnd.acme.v1+json", PARTS.body())))
                .isEqualTo(of(PARTS));
        assertThat(of(PARTS.about("CaseFile", "CASE-1"))).isEqualTo(of(PARTS));
        assertThat(of(PARTS.withQuery(null))).isEqualTo(of(PARTS.withQuery("")));
    }

    @Test
    void every_part_matters() {
        List<PayloadHash> hashes =
                List.of(
                        of(PARTS),
                        of(json("{\"reason\":\"ok\",\"n\":2}")),
                        of(PARTS.withPath("caseId", "CASE-2")),
                        of(PARTS.withQuery("dry=true")),
                        of(PARTS.withQuery("")),
                        of(PARTS.withBody("text/plain", PARTS.body())),
                        of(PARTS.withBody("text/plain", utf8("{\"n\":1,\"reason\":\"ok\"}"))),
                        of(PARTS.withBody(null, new byte[0])),
                        of(HttpOperation.of("case.approve", "PUT", APPROVE.route()), PARTS),
                        of(
                                HttpOperation.of("case.approve", "POST", "/v2" + APPROVE.route()),
                                PARTS),
                        of(
                                RequestParts.of("globex", "portal")
                                        .withPath("caseId", "CASE-1")
                                        .withQuery("dry=false")
                                        .withBody("application/json", PARTS.body())),
                        of(
                                RequestParts.of("acme", "mobile")
                                        .withPath("caseId", "CASE-1")
                                        .withQuery("dry=false")
                                        .withBody("application/json", PARTS.body())));

        assertThat(hashes).doesNotHaveDuplicates();
    }

    /** Rows are compared by it for as long as they live, also after an upgrade. */
    @Test
    void it_is_the_same_in_every_release() {
        PayloadHash hash = of(PARTS);
        assertThat(HexFormat.of().formatHex(hash.bytes(hash.version(1))))
                .isEqualTo("c2ac5f4f736117410743938969382711348db593ce4b5aa1a4052b175f072f57");
        PayloadHash raw = of(PARTS.withBody("text/plain", utf8("hello")));
        assertThat(HexFormat.of().formatHex(raw.bytes(raw.version(1))))
                .isEqualTo("b3156a5b7169e0a86b3d4376454d92b1207237cbcd376a35a7b36c0f07e197db");
    }

    @ParameterizedTest
    @CsvSource({
        "application/json, true",
        "application/problem+json;x=y, true",
        "' APPLICATION/JSON ', true",
        "application/jsonx, false",
        "text/json, false",
        "'', false",
        "text/plain; a=application/json, false"
    })
    void a_json_type_is_known_by_its_name(String type, boolean json) {
        assertThat(Fingerprints.isJson(type)).isEqualTo(json);
    }

    @Test
    void an_empty_body_is_no_json_and_bad_json_is_refused() {
        assertThat(of(json(""))).isEqualTo(of(PARTS.withBody("text/plain", new byte[0])));
        assertThatThrownBy(() -> of(json("{\"a\":1,\"a\":2}")))
                .isInstanceOf(InvalidPayloadException.class);
        assertThatThrownBy(() -> of(PARTS.withPath("caseId", "\ud800")))
                .isInstanceOf(InvalidPayloadException.class);
    }

    @Test
    void large_uploads_are_no_json_and_have_no_limit() {
        byte[] upload = new byte[3 << 20];
        assertThat(of(PARTS.withBody("image/png", upload)))
                .isEqualTo(of(PARTS.withBody("image/png", upload)));
        assertThatThrownBy(() -> of(PARTS.withBody("application/json", upload)))
                .isInstanceOf(InvalidPayloadException.class);
    }

    @Test
    void a_request_must_have_every_variable_of_its_route_and_no_other() {
        assertThatThrownBy(() -> APPROVE.refuseIfIncomplete(RequestParts.of("a", "b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("caseId");
        assertThatThrownBy(() -> APPROVE.refuseIfIncomplete(PARTS.withPath("other", "x")))
                .isInstanceOf(IllegalArgumentException.class);
        HttpOperation.of("o", "PUT", "/a/{x:[0-9]+}/{*rest}")
                .refuseIfIncomplete(
                        RequestParts.of("a", "b").withPath("x", "1").withPath("rest", "c/d"));
        assertThatThrownBy(() -> PARTS.path("nothing"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void mistakes_in_an_operation_fail_where_it_is_made() {
        assertThatThrownBy(() -> APPROVE.withTtl(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> HttpOperation.of("", "POST", "/"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RequestParts.of("", "portal"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> RequestParts.of("acme", "p\u00f6rtal"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
