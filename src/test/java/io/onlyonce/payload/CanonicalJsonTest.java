package io.onlyonce.payload;

import static io.onlyonce.payload.CanonicalJsonRefusalTest.assertReason;
import static io.onlyonce.payload.InvalidPayloadException.Reason.EMPTY;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TRAILING_CONTENT;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.Random;

class CanonicalJsonTest {

    private static final String DAMAGE = "{}[]\",:\\u0e-+.19 \u0000é";

    private final CanonicalJson canonical = new CanonicalJson();

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "1.0, 1",
        "1e0, 1",
        "1E+0, 1",
        "10e-1, 1",
        "0.1e1, 1",
        "-0, 0",
        "-0.0e5, 0",
        "0e-9, 0",
        "0e99999999999999999999, 0",
        "100, 1e2",
        "1e2, 1e2",
        "0.01e4, 1e2",
        "-0.250, -25e-2",
        "10, 1e1",
        "120, 12e1",
        "1020, 102e1",
        "0.00102, 102e-5",
        "1.5, 15e-1",
        "9007199254740992, 9007199254740992",
        "9007199254740993, 9007199254740993",
        "1e1000, 1e1000",
        "1e-1000, 1e-1000",
        "1e0000000000001, 1e1",
        "1e-0000000000001, 1e-1",
        "123.4560e-3, 123456e-6"
    })
    void numbers_are_exact_decimals_with_one_spelling(String number, String spelling) {
        assertThat(canonical(number)).isEqualTo(spelling);
        assertThat(canonical("[" + number + " ]")).isEqualTo("[" + spelling + "]");
    }

    @Test
    void strings_escape_only_what_must_be() {
        assertThat(
                        canonical(
                                "\"\\u0041\\/\\\"\\\\\\b\\f\\n"
                                        + "\\r"
                                        + "\\t\\u0000\\u001F\\u007f\\u00e9\\uD83D\\ude00\""))
                .isEqualTo("\"A/\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\u007fé😀\"");
        assertThat(canonical("\"\\u0022\\u005c\\u0008\\u000c\\u000a\\u000d\\u0009\""))
                .isEqualTo("\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    }

    @Test
    void keys_are_sorted_by_utf16_code_unit() {
        // U+1F600 is D83D DE00 in UTF-16 and so sorts before U+E000 and U+FFFF, though not in
        // UTF-8.
        assertThat(
                        canonical(
                                "{\"\uffff\":1,\"\ue000\":2,\"😀\":3,\"\ud7ff\":4,\"b\":5,\"aa\":6,\"a\":7,\"\":8}"))
                .isEqualTo(
                        "{\"\":8,\"a\":7,\"aa\":6,\"b\":5,\"\ud7ff\":4,\"😀\":3,\"\ue000\":2,\"\uffff\":1}");
    }

    @Test
    void keys_are_sorted_by_what_their_escapes_mean() {
        assertThat(
                        canonical(
                                "{\"\\u0062\":1,\"a\":2,\"\\n"
                                        + "\":3,\" \":4,\"\\\"\":5,\"\\\\\":6,\"[\":7,\"]\":8}"))
                .isEqualTo(
                        "{\"\\n"
                                + "\":3,\""
                                + " \":4,\"\\\"\":5,\"[\":7,\"\\\\\":6,\"]\":8,\"a\":2,\"b\":1}");
        assertThat(
                        canonical(
                                "{\"\\uffff\":1,\"\\ud83d\\ude00x\":2,\"\\ud83d\\ude00\":3,\"\\u00e9\":4}"))
                .isEqualTo("{\"é\":4,\"😀\":3,\"😀x\":2,\"\uffff\":1}");
    }

    @Test
    void nested_objects_are_sorted_each_on_its_own() {
        assertThat(
                        canonical(
                                " { \"b\" : { \"d\" : [ {\"z\":1,\"y\":{}} , [] ], \"c\" : true } ,"
                                        + " \"a\" : null }\n"))
                .isEqualTo("{\"a\":null,\"b\":{\"c\":true,\"d\":[{\"y\":{},\"z\":1},[]]}}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"true", "false", "null", "\"\"", "{}", "[]", "0", "[[],{}]", "{\"\":{}}"})
    void the_smallest_values_are_their_own_form(String json) {
        assertThat(canonical(json)).isEqualTo(json);
        assertThat(canonical("\r\n\t " + json + " \t\r\n")).isEqualTo(json);
    }

    @Test
    void every_spelling_of_a_document_has_the_form_that_a_naive_implementation_finds()
            throws Exception {
        for (long seed = 0; seed < 5_000; seed++) {
            var random = new RandomJson(seed);
            JsonNode document = random.document(4);
            String naive = NaiveCanonicalJson.of(document);
            for (int i = 0; i < 3; i++) {
                String spelling = random.spell(document);
                assertThat(canonical(spelling)).as("seed %d", seed).isEqualTo(naive);
                assertThat(NaiveCanonicalJson.of(spelling))
                        .as("oracle, seed %d", seed)
                        .isEqualTo(naive);
            }
            assertThat(canonical(naive)).as("its own form, seed %d", seed).isEqualTo(naive);
        }
    }

    @Test
    void a_change_of_meaning_changes_the_form() {
        int changed = 0;
        for (long seed = 0; seed < 5_000; seed++) {
            var random = new RandomJson(seed);
            JsonNode document = random.document(4);
            JsonNode other = random.change(document);
            assertThat(canonical(random.spell(other)))
                    .as("seed %d", seed)
                    .isNotEqualTo(canonical(random.spell(document)));
            changed++;
        }
        assertThat(changed).isEqualTo(5_000);
    }

    /**
     * Jackson is lenient in places, so only one direction holds: what we accept, Jackson reads
     * alike.
     */
    @Test
    void damaged_text_is_refused_or_means_what_jackson_reads() throws Exception {
        int refused = 0;
        int accepted = 0;
        for (long seed = 0; seed < 5_000; seed++) {
            var json = new RandomJson(seed);
            var random = new Random(seed);
            byte[] bytes = json.spell(json.document(3)).getBytes(UTF_8);
            byte[] damaged =
                    random.nextBoolean()
                            ? bytes
                            : Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
            for (int i = random.nextInt(3); i > 0 && damaged.length > 0; i--) {
                damaged[random.nextInt(damaged.length)] =
                        (byte) DAMAGE.charAt(random.nextInt(DAMAGE.length()));
            }
            try {
                String form = new String(canonical.canonicalize(damaged), UTF_8);
                accepted++;
                assertThat(NaiveCanonicalJson.of(new String(damaged, UTF_8)))
                        .as("seed %d", seed)
                        .isEqualTo(form);
            } catch (InvalidPayloadException expected) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(1_000);
        assertThat(accepted).isGreaterThan(1_000);
    }

    @Test
    void the_input_is_left_alone() {
        byte[] input = "{\"b\":100,\"a\":\"\\u0041\"}".getBytes(UTF_8);
        byte[] before = input.clone();
        canonical.canonicalize(input);
        assertThat(input).isEqualTo(before);
    }

    @Test
    void composed_and_decomposed_characters_stay_apart() {
        assertThat(canonical("\"é\"")).isNotEqualTo(canonical("\"e\u0301\""));
        assertThat(canonical("{\"é\":1,\"e\u0301\":2}")).isEqualTo("{\"e\u0301\":2,\"é\":1}");
    }

    @Test
    void a_set_is_one_array_in_the_order_of_its_bytes() {
        assertThat(set(" [ 2 , 1.0, \"a\", {\"z\":1,\"a\":[2,1]}, \"é\" ] "))
                .isEqualTo("[\"a\",\"é\",1,2,{\"a\":[2,1],\"z\":1}]");
        assertThat(set("[]")).isEqualTo("[]");
        assertThat(set("{\"b\":[2,1],\"a\":0}")).isEqualTo("{\"a\":0,\"b\":[2,1]}");
        assertReason(() -> set("[1] x"), TRAILING_CONTENT);
        assertReason(() -> set(" "), EMPTY);
    }

    private static String set(String json) {
        return CanonicalJson.canonicalizeSet(json, JsonLimits.DEFAULTS);
    }

    private String canonical(String json) {
        byte[] form = canonical.canonicalize(json);
        assertThat(canonical.canonicalize(json.getBytes(UTF_8))).isEqualTo(form);
        return new String(form, UTF_8);
    }
}
