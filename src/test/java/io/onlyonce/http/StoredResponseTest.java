package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.payload.StoredResultUnreadableException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Responses: what can be one, what is stored of it, and which status does what. */
class StoredResponseTest {

    @Test
    void every_response_is_read_back_as_it_was_written() {
        var random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            var response = StoredResponse.of(100 + random.nextInt(500));
            for (int n = random.nextInt(4); n > 0; n--) {
                var value = new StringBuilder();
                for (int c = random.nextInt(12); c > 0; c--) {
                    value.append(
                            (char)
                                    (random.nextBoolean()
                                            ? 0x20 + random.nextInt(0x5F)
                                            : 0xA0 + random.nextInt(0x60)));
                }
                response = response.withHeader("X-" + random.nextInt(3), value.toString());
            }
            byte[] body = new byte[random.nextInt(50)];
            random.nextBytes(body);
            response = response.withBody(body);

            StoredResponse read = StoredResponse.fromBytes(response.toBytes());

            assertThat(read).isEqualTo(response).hasSameHashCodeAs(response);
            assertThat(read.toBytes()).isEqualTo(response.toBytes());
        }
    }

    @Test
    void the_stored_form_stays_readable_for_ever() {
        byte[] golden =
                "onlyonce-http/1 201\nContent-Type:application/json\nLink:a\nLink:b\n\n{\"n\":1}\n\n"
                        .getBytes(StandardCharsets.ISO_8859_1);
        var response =
                StoredResponse.of(201)
                        .withJson("{\"n\":1}\n\n")
                        .withHeader("Link", "a")
                        .withHeader("link", "b");

        assertThat(response.toBytes()).isEqualTo(golden);
        assertThat(StoredResponse.fromBytes(golden)).isEqualTo(response);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "onlyonce-http/1 200",
                "onlyonce-http/2 200\n\n",
                "onlyonce-http/1 20x\n\n",
                "onlyonce-http/1 99\n\n",
                "onlyonce-http/1 200\nno colon\n\n",
                "onlyonce-http/1 200\nA:b\n",
                "{\"case\":\"secret\"}"
            })
    void other_bytes_are_no_response_and_are_not_quoted(String text) {
        assertThatThrownBy(() -> StoredResponse.fromBytes(text.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(StoredResultUnreadableException.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    void what_would_break_a_response_apart_is_refused() {
        var response = StoredResponse.of(200);
        for (String name : List.of("", "a b", "a:b", "a\nb", "\u00fc")) {
            assertThatThrownBy(() -> response.withHeader(name, "v"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (String value : List.of("a\nb", "a\rb", "a\u0000b", "\u007f", "\u0100")) {
            assertThatThrownBy(() -> response.withHeader("A", value))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> StoredResponse.of(99))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> StoredResponse.of(600))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void it_shares_no_array_with_anybody() {
        byte[] body = {1};
        var response = StoredResponse.of(200, Map.of("A", List.of("1", "2")), body);
        body[0] = 2;
        response.body()[0] = 3;

        assertThat(response.body()).containsExactly(1);
        assertThat(response.headers().get("a")).containsExactly("1", "2");
        assertThat(response.header("b")).isEmpty();
        assertThatThrownBy(() -> response.headers().put("B", List.of()))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(response).hasToString("StoredResponse[200, 1 bytes]");
        assertThat(response)
                .isNotEqualTo(StoredResponse.of(201, response.headers(), response.body()))
                .isNotEqualTo(StoredResponse.of(200).withBody(response.body()))
                .isNotEqualTo(response.withBody(new byte[0]));
    }

    @Test
    void the_table_of_statuses_is_the_documented_one() {
        assertThat(IntStream.range(200, 400).mapToObj(StatusAction::of))
                .containsOnly(StatusAction.COMMIT_AND_STORE);
        for (int status :
                new int[] {
                    400, 402, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421,
                    422, 423, 424, 426, 428, 431, 451, 499
                }) {
            assertThat(StatusAction.of(status))
                    .as("%d", status)
                    .isEqualTo(StatusAction.UNDO_AND_STORE);
        }
        for (int status :
                new int[] {100, 101, 102, 103, 401, 403, 408, 425, 429, 500, 502, 503, 504, 599}) {
            assertThat(StatusAction.of(status))
                    .as("%d", status)
                    .isEqualTo(StatusAction.UNDO_AND_FORGET);
        }
    }

    @ParameterizedTest
    @EnumSource
    void every_code_has_a_whole_document(ProblemCode code) {
        StoredResponse response = code.details().toResponse();

        assertThat(response.header("content-type")).hasValue("application/problem+json");
        assertThat(response.bodyText())
                .contains("\"type\":\"urn:onlyonce:problem:")
                .contains("\"status\":" + response.status())
                .contains("\"code\":\"" + code + "\"")
                .containsPattern("\"retryable\":(true|false)")
                .containsPattern("\"title\":\"[A-Z][^\"]+\"")
                .containsPattern("\"detail\":\"[A-Z][^\"]+\\.\"");
    }

    @Test
    void a_problem_can_be_said_in_other_words() {
        ProblemDetails own =
                ProblemCode.INVALID_PAYLOAD
                        .details()
                        .withType("https://example.com/p")
                        .withTitle("T")
                        .withStatus(499)
                        .withDetail("D")
                        .withRetryable(true)
                        .with("more", "M")
                        .with("code", "not overwritten");

        assertThat(own.type()).isEqualTo("https://example.com/p");
        assertThat(own.title()).isEqualTo("T");
        assertThat(own.status()).isEqualTo(499);
        assertThat(own.detail()).isEqualTo("D");
        assertThat(own.code()).isEqualTo("INVALID_PAYLOAD");
        assertThat(own.retryable()).isTrue();
        assertThat(own.toResponse().bodyText())
                .isEqualTo(
                        "{\"type\":\"https://example.com/p\",\"title\":\"T\",\"status\":499,\"detail\":\"D\","
                            + "\"code\":\"INVALID_PAYLOAD\",\"retryable\":true,\"more\":\"M\"}");
    }

    @Test
    void statuses_of_the_codes_are_the_documented_ones() {
        assertThat(List.of(ProblemCode.values()))
                .extracting(code -> code.details().status())
                .containsExactly(400, 400, 400, 422, 409, 409, 409, 409, 429, 500);
    }
}
