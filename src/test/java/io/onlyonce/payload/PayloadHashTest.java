package io.onlyonce.payload;

import static io.onlyonce.payload.CanonicalJsonRefusalTest.assertReason;
import static io.onlyonce.payload.InvalidPayloadException.Reason.*;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import org.junit.jupiter.api.Test;

import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

class PayloadHashTest {

    @Test
    void spellings_of_one_document_have_one_hash_and_changes_another() {
        for (long seed = 10_000; seed < 12_000; seed++) {
            var random = new RandomJson(seed);
            JsonNode document = random.document(3);
            PayloadHash hash = PayloadHash.ofJson(random.spell(document));
            assertThat(PayloadHash.ofJson(random.spell(document).getBytes(UTF_8)))
                    .as("seed %d", seed)
                    .isEqualTo(hash);
            assertThat(PayloadHash.ofJson(document))
                    .as("tree, seed %d", seed)
                    .isEqualTo(hash)
                    .hasSameHashCodeAs(hash);
            assertThat(PayloadHash.ofJson(random.spell(random.change(document))))
                    .as("seed %d", seed)
                    .isNotEqualTo(hash);
        }
    }

    @Test
    void near_misses_differ() {
        String[] payloads = {
            "9007199254740992",
            "9007199254740993",
            "\"9007199254740992\"",
            "1",
            "\"1\"",
            "[1]",
            "true",
            "\"true\"",
            "null",
            "\"null\"",
            "\"\"",
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "0",
            "false",
            "\"é\"",
            "\"e\u0301\"",
            "\" \"",
            "\"a\"",
            "\"A\"",
            "\"a \"",
            "\"a\\u0000\"",
            "{\"a\":null}",
            "{\"a\":\"\"}",
            "{\"a\":{}}",
            "{\"a\":[]}",
            "{\"a\":1,\"b\":2}",
            "{\"a\":2,\"b\":1}",
            "[1,2]",
            "[2,1]",
            "[12]",
            "1e-1",
            "1e1",
            "-1",
            "0.1000000000000000055511151231257827",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83d\\ude01\"",
            "{\"ab\":\"c\"}",
            "{\"a\":\"bc\"}",
            "[\"a,b\"]",
            "[\"a\",\"b\"]"
        };
        var hashes = new HashSet<PayloadHash>();
        for (String payload : payloads) {
            assertThat(hashes.add(PayloadHash.ofJson(payload))).as(payload).isTrue();
        }
    }

    @Test
    void kinds_never_meet() {
        byte[] bytes = "{}".getBytes(UTF_8);
        assertThat(
                        List.of(
                                PayloadHash.ofJson(bytes),
                                PayloadHash.ofBytes(bytes),
                                PayloadHash.ofFields(Map.of())))
                .doesNotHaveDuplicates()
                .extracting(PayloadHash::currentVersion)
                .containsExactly(11, 12, 13);
        assertThat(PayloadHash.ofJson(bytes).bytes(11))
                .isNotEqualTo(PayloadHash.ofBytes(bytes).bytes(12));
    }

    @Test
    void text_bytes_and_trees_are_json_whatever_their_declared_type() throws Exception {
        PayloadHash hash = PayloadHash.ofJson("{\"a\":1}");
        assertThat(PayloadHash.ofJson((Object) "{\"a\": 1.0}")).isEqualTo(hash);
        assertThat(PayloadHash.ofJson((Object) "{\"a\":1}".getBytes(UTF_8))).isEqualTo(hash);
        assertThat(PayloadHash.ofJson((Object) new JsonMapper().readTree("{\"a\":1}")))
                .isEqualTo(hash);
        assertThatThrownBy(() -> PayloadHash.ofJson((Object) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("hash the JSON text");
    }

    @Test
    void a_tree_without_a_value_is_refused_like_a_text_without_one() throws Exception {
        JsonNode nothing = new JsonMapper().readTree("");
        assertReason(() -> PayloadHash.ofJson(""), EMPTY);
        assertReason(() -> PayloadHash.ofJson(nothing), EMPTY);
        assertReason(() -> PayloadHash.ofJson((Object) nothing), EMPTY);
        assertReason(() -> PayloadHash.ofFields(Map.of("a", nothing)), EMPTY);
        assertThatThrownBy(() -> PayloadHash.ofJson((JsonNode) null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("hash the JSON text");
        assertThat(PayloadHash.ofJson(new JsonMapper().readTree("null")))
                .isEqualTo(PayloadHash.ofJson("null"));
    }

    @Test
    void bytes_are_hashed_as_they_were_when_given() {
        byte[] bytes = {0, (byte) 0xff, 13, 10};
        PayloadHash hash = PayloadHash.ofBytes(bytes);
        bytes[0] = 1;
        assertThat(hash.withSchemaVersion(1))
                .isEqualTo(
                        PayloadHash.ofBytes(new byte[] {0, (byte) 0xff, 13, 10})
                                .withSchemaVersion(1));
        assertThat(hash).isNotEqualTo(PayloadHash.ofBytes(bytes));
        hash.bytes(12)[0] ^= 1;
        assertThat(hash).isEqualTo(PayloadHash.ofBytes(new byte[] {0, (byte) 0xff, 13, 10}));
        assertThat(hash.bytes(12))
                .hasSize(32)
                .isEqualTo(PayloadHash.ofBytes(new byte[] {0, (byte) 0xff, 13, 10}).bytes(12));
        assertThat(PayloadHash.ofBytes(new byte[0])).isNotEqualTo(PayloadHash.ofBytes(new byte[1]));
    }

    @Test
    void the_schema_version_is_part_of_the_payload() {
        PayloadHash hash = PayloadHash.ofJson("{}");
        assertThat(
                        List.of(
                                hash,
                                hash.withSchemaVersion(1),
                                hash.withSchemaVersion(2),
                                hash.withSchemaVersion(256)))
                .doesNotHaveDuplicates();
        assertThat(hash.withSchemaVersion(1).withSchemaVersion(2))
                .isEqualTo(PayloadHash.ofJson(" {} ").withSchemaVersion(2));
        assertThatThrownBy(() -> hash.withSchemaVersion(0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void fields_play_no_delimiter_games() {
        var hashes =
                List.of(
                        PayloadHash.ofFields(Map.of()),
                        PayloadHash.ofFields(Map.of("", "")),
                        PayloadHash.ofFields(Map.of("a", "bc")),
                        PayloadHash.ofFields(Map.of("ab", "c")),
                        PayloadHash.ofFields(Map.of("a", "b", "c", "d")),
                        PayloadHash.ofFields(Map.of("a", "d", "c", "b")),
                        PayloadHash.ofFields(Map.of("a", "b\0c\0d")),
                        PayloadHash.ofFields(Map.of("a", "b,c=d")),
                        PayloadHash.ofFields(Map.of("a", "b|c", "d", "")),
                        PayloadHash.ofFields(Map.of("a", "b", "c|d", "")),
                        PayloadHash.ofFields(Map.of("a", "é")),
                        PayloadHash.ofFields(Map.of("a", "e\u0301")),
                        PayloadHash.ofFields(Map.of("a", "1")),
                        PayloadHash.ofFields(Map.of("a", 1)),
                        PayloadHash.ofFields(Map.of("a", true)),
                        PayloadHash.ofFields(Map.of("a", "true")),
                        PayloadHash.ofFields(Map.of("a", new byte[] {'1'})),
                        PayloadHash.ofFields(Map.of("a", List.of("1"))),
                        PayloadHash.ofFields(Map.of("a", "")),
                        PayloadHash.ofFields(Map.of("a", new byte[0])),
                        PayloadHash.ofFields(nullField()),
                        PayloadHash.ofFields(Map.of("a", "null")),
                        PayloadHash.ofFields(Map.of("a", "", "b", "")));
        assertThat(hashes).doesNotHaveDuplicates();
    }

    @Test
    void fields_are_equal_in_any_order_and_number_type() {
        var forward = new LinkedHashMap<String, Object>();
        forward.put("a", 1);
        forward.put("b", List.of(1.0, 2));
        forward.put("\uffff", null);
        forward.put("😀", new byte[] {1});
        var backward = new TreeMap<String, Object>(Comparator.reverseOrder());
        forward.forEach(backward::put);
        backward.put("a", 1L);
        backward.put("b", new Object[] {1, 2});
        backward.put("😀", new byte[] {1});
        assertThat(PayloadHash.ofFields(backward)).isEqualTo(PayloadHash.ofFields(forward));
    }

    @Test
    void a_field_that_comes_twice_is_refused() {
        var fields = new IdentityHashMap<String, Object>();
        fields.put("a", 1);
        assertThat(PayloadHash.ofFields(fields)).isEqualTo(PayloadHash.ofFields(Map.of("a", 1)));
        fields.put(new String("a"), 2);
        assertReason(() -> PayloadHash.ofFields(fields), DUPLICATE_KEY);
    }

    @Test
    void fields_have_limits_too() {
        var limits = JsonLimits.DEFAULTS.withBytes(40);
        assertThat(PayloadHash.ofFields(Map.of("a", "x".repeat(20)), limits))
                .isEqualTo(PayloadHash.ofFields(Map.of("a", "x".repeat(20))));
        // 4 for the count, 5 for the name, 1 for the letter, 4 for the length
        assertThat(PayloadHash.ofFields(Map.of("a", "x".repeat(30)), limits)).isNotNull();
        assertReason(() -> PayloadHash.ofFields(Map.of("a", "x".repeat(31)), limits), TOO_LARGE);
        assertReason(() -> PayloadHash.ofFields(Map.of("a", new byte[35]), limits), TOO_LARGE);
        assertReason(
                () ->
                        PayloadHash.ofFields(
                                Map.of("a", "x".repeat(20), "b", "x".repeat(20)), limits),
                TOO_LARGE);
        assertReason(() -> PayloadHash.ofFields(Map.of("a", "\ud800")), LONE_SURROGATE);
        assertReason(() -> PayloadHash.ofFields(Map.of("\ud800", "a")), LONE_SURROGATE);
        assertReason(() -> PayloadHash.ofFields(Map.of("a", List.of("\ud800"))), LONE_SURROGATE);
        assertReason(() -> PayloadHash.ofFields(Map.of("a", Double.NaN)), NOT_A_NUMBER);
    }

    @Test
    void limits_reach_every_way_in() throws Exception {
        var limits = JsonLimits.DEFAULTS.withDepth(1);
        JsonNode tree = new JsonMapper().readTree("[[]]");
        assertReason(() -> PayloadHash.ofJson("[[]]", limits), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson("[[]]".getBytes(UTF_8), limits), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson(tree, limits), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson((Object) "[[]]", limits), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson((Object) "[[]]".getBytes(UTF_8), limits), TOO_DEEP);
        assertReason(() -> PayloadHash.ofJson(List.of(List.of()), limits), TOO_DEEP);
    }

    @Test
    void to_string_shows_version_and_eight_digits_only() {
        PayloadHash hash = PayloadHash.ofJson("{\"secret\":1}");
        String hex = HexFormat.of().formatHex(hash.bytes(11));
        assertThat(hash).hasToString("PayloadHash[v11 " + hex.substring(0, 8) + "…]");
    }

    @Test
    void a_hash_equals_only_hashes() {
        assertThat(PayloadHash.ofJson("1").equals(new Object())).isFalse();
        assertThat(PayloadHash.ofJson("1").hashCode())
                .isNotEqualTo(PayloadHash.ofJson("2").hashCode());
    }

    private static Map<String, Object> nullField() {
        var fields = new HashMap<String, Object>();
        fields.put("a", null);
        return fields;
    }
}
