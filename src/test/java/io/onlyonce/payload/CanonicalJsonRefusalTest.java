package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.*;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.onlyonce.payload.InvalidPayloadException.Reason;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.Charset;
import java.util.HexFormat;

class CanonicalJsonRefusalTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{",
                "[",
                "\"",
                "\"a",
                "{\"a\"",
                "{\"a\":",
                "{\"a\":1",
                "{\"a\":1,",
                "{\"a\":1,}",
                "{,}",
                "{1:2}",
                "{\"a\" 1}",
                "{\"a\":1 \"b\":2}",
                "{'a':1}",
                "{a:1}",
                "[1,",
                "[1,]",
                "[,1]",
                "[1 2]",
                "]",
                "}",
                ",",
                ":",
                "tru",
                "trve",
                "t",
                "nul",
                "nulL",
                "fals",
                "falsy",
                "True",
                "NaN",
                "Infinity",
                "-Infinity",
                "-",
                "+1",
                ".5",
                "-.5",
                "1.",
                "1.e1",
                "1e",
                "1e+",
                "1e-",
                "1eE",
                "-a",
                "--1",
                "/* c */1",
                "// c\n1",
                "#c\n1",
                "'a'",
                "\"\\",
                "\"\\a\"",
                "\"\\x41\"",
                "\"\\u\"",
                "\"\\u00\"",
                "\"\\u00g0\"",
                "\"\\u004",
                "\"\\u",
                "\"\\ud800\\u00\"",
                "\"a\nb\"",
                "\"\u0000\"",
                "\"\u001f\"",
                "\u0000",
                "\u00001",
                "\u000b1",
                "\f1",
                "\u00a01",
                "é",
                "{\"a\":é}",
                "[1}",
                "{\"a\":1]",
                "{\"a\"}",
                "{\"a\",1}",
                "\"\\U0041\""
            })
    void text_that_is_not_json_is_malformed(String json) {
        assertRefused(json.getBytes(UTF_8), MALFORMED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1 2",
                "1.5.",
                "0x10",
                "1,",
                "{} {}",
                "[]]",
                "{}}",
                "\"a\"b",
                "null0",
                "01",
                "-01",
                "00",
                "truee",
                "1/* c */",
                "1\u0000",
                "{}x",
                "1é",
                "0x",
                "1 \u00a0"
            })
    void anything_behind_the_value_is_trailing_content(String json) {
        assertRefused(json.getBytes(UTF_8), TRAILING_CONTENT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\n\r\t "})
    void no_value_is_empty(String json) {
        assertRefused(json.getBytes(UTF_8), EMPTY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":1,\"a\":1}",
                "{\"a\":1,\"\\u0061\":2}",
                "{\"\\u0061\":1,\"b\":0,\"a\":2}",
                "{\"\":1,\"\":2}",
                "{\"x\":{\"b\":1,\"a\":1,\"b\":1}}",
                "[{\"\\n\":1,\"\\u000a\":1}]",
                "{\"\\ud83d\\ude00\":1,\"a\":1,\"😀\":2}",
                "{\"a\":1,\"b\":{\"a\":1},\"a\":1}",
                "{\"/\":1,\"\\/\":1}"
            })
    void a_key_that_comes_twice_is_refused_however_it_is_spelt(String json) {
        assertRefused(json.getBytes(UTF_8), DUPLICATE_KEY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"\\ud800\"",
                "\"\\udc00\"",
                "\"\\ud800x\"",
                "\"\\ud800\\n\"",
                "\"\\ud800\\u0041\"",
                "\"\\ud800\\ud800\"",
                "\"\\udc00\\ud800\"",
                "\"\\udbff",
                "\"\\ud800\\",
                "{\"\\ud800\":1}"
            })
    void half_a_surrogate_pair_in_escapes_is_refused(String json) {
        assertRefused(json.getBytes(UTF_8), LONE_SURROGATE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0xd800, 0xdbff, 0xdc00, 0xdfff})
    void half_a_surrogate_pair_in_a_string_is_refused(int unit) {
        for (String json : new String[] {"\"%c\"", "\"%cx\"", "{\"%c\":1}", "%c"}) {
            assertReason(
                    () -> new CanonicalJson().canonicalize(json.replace("%c", "" + (char) unit)),
                    LONE_SURROGATE);
        }
        assertReason(() -> new CanonicalJson().canonicalize("\"\udc00\ud800\""), LONE_SURROGATE);
        assertReason(
                () -> new CanonicalJson().canonicalize("\"\ud800\ud800\udc00\""), LONE_SURROGATE);
        assertThat(new CanonicalJson().canonicalize("\"\ud800\udc00\ud800\udc00\"")).hasSize(10);
    }

    @ParameterizedTest
    @CsvSource({
        "80",
        "bf",
        "c0 80",
        "c1 bf",
        "c2",
        "c2 41",
        "c2 c0",
        "df 7f",
        "e0 80 80",
        "e0 9f bf",
        "e0 a0",
        "e0 a0 41",
        "e1 41 80",
        "ed a0 80",
        "ed bf bf",
        "ef bf",
        "ef bf c0",
        "f0 80 80 80",
        "f0 8f bf bf",
        "f0 90 80",
        "f0 90 80 41",
        "f0 90 41 80",
        "f4 90 80 80",
        "f5 80 80 80",
        "f8 88 80 80 80",
        "fe",
        "ff",
        "f0 9f 98",
        "e2 82"
    })
    void bytes_that_are_not_strict_utf8_are_refused(String hex) {
        byte[] wrong = HexFormat.of().parseHex(hex.replace(" ", ""));
        assertRefused(join("\"a".getBytes(UTF_8), wrong, "\"".getBytes(UTF_8)), INVALID_UTF8);
        assertRefused(join("{\"a".getBytes(UTF_8), wrong, "\":1}".getBytes(UTF_8)), INVALID_UTF8);
        assertRefused(join("\"a".getBytes(UTF_8), wrong), INVALID_UTF8);
        assertRefused(join("[".getBytes(UTF_8), wrong, "]".getBytes(UTF_8)), INVALID_UTF8);
    }

    @ParameterizedTest
    @CsvSource({
        "c2 80",
        "df bf",
        "e0 a0 80",
        "e1 80 80",
        "ec bf bf",
        "ed 80 80",
        "ed 9f bf",
        "ee 80 80",
        "ef bf bf",
        "f0 90 80 80",
        "f1 80 80 80",
        "f3 bf bf bf",
        "f4 8f bf bf",
        "7f"
    })
    void the_edges_of_valid_utf8_pass(String hex) {
        byte[] json =
                join(
                        new byte[] {'"'},
                        HexFormat.of().parseHex(hex.replace(" ", "")),
                        new byte[] {'"'});
        assertThat(new CanonicalJson().canonicalize(json)).isEqualTo(json);
        String text = new String(json, UTF_8);
        String escaped =
                "\""
                        + text.substring(1, text.length() - 1)
                                .chars()
                                .mapToObj(c -> String.format("\\u%04X", c))
                                .reduce("", String::concat)
                        + "\"";
        assertThat(new CanonicalJson().canonicalize(escaped)).isEqualTo(json);
        assertThat(new CanonicalJson().canonicalize("{" + escaped + ":1,\"\":2}"))
                .isEqualTo(("{\"\":2," + text + ":1}").getBytes(UTF_8));
    }

    @Test
    void byte_order_marks_are_refused_in_every_encoding() {
        assertRefused(
                join(new byte[] {(byte) 0xef, (byte) 0xbb, (byte) 0xbf}, "{}".getBytes(UTF_8)),
                BYTE_ORDER_MARK);
        assertRefused(join(new byte[] {(byte) 0xef, (byte) 0xbb, (byte) 0xbf}), BYTE_ORDER_MARK);
        assertRefused("\ufeff{}".getBytes(UTF_16BE), BYTE_ORDER_MARK);
        assertRefused("\ufeff{}".getBytes(UTF_16LE), BYTE_ORDER_MARK);
        assertRefused("\ufeff{}".getBytes(Charset.forName("UTF-32BE")), BYTE_ORDER_MARK);
        assertRefused("\ufeff{}".getBytes(Charset.forName("UTF-32LE")), BYTE_ORDER_MARK);
        assertReason(() -> new CanonicalJson().canonicalize("\ufeff{}"), BYTE_ORDER_MARK);
        assertThat(new CanonicalJson().canonicalize("\"\ufeff\"")).hasSize(5);
    }

    @Test
    void other_encodings_are_not_guessed() {
        assertRefused("{\"a\":1}".getBytes(UTF_16BE), MALFORMED);
        assertRefused("{\"a\":1}".getBytes(UTF_16LE), MALFORMED);
        assertRefused("{\"a\":1}".getBytes(Charset.forName("UTF-32BE")), MALFORMED);
        assertRefused("{\"a\":1}".getBytes(Charset.forName("UTF-32LE")), MALFORMED);
        assertRefused("\"é\"".getBytes(ISO_8859_1), INVALID_UTF8);
    }

    @Test
    void each_limit_admits_its_last_value_and_refuses_the_next() {
        String digits = "1".repeat(1_000);
        assertThat(canonical(digits)).isEqualTo(digits);
        assertThat(canonical("0." + "0".repeat(998) + "1")).isEqualTo("1e-999");
        assertRefused((digits + "1").getBytes(UTF_8), TOO_MANY_DIGITS);
        assertRefused(("0." + "0".repeat(999) + "1").getBytes(UTF_8), TOO_MANY_DIGITS);
        assertRefused(("0." + "0".repeat(1_000)).getBytes(UTF_8), TOO_MANY_DIGITS);
        assertRefused("1e1001".getBytes(UTF_8), EXPONENT_TOO_LARGE);
        assertRefused("1e-1001".getBytes(UTF_8), EXPONENT_TOO_LARGE);
        assertRefused("10e1000".getBytes(UTF_8), EXPONENT_TOO_LARGE);
        assertRefused("1e99999999999999999999".getBytes(UTF_8), EXPONENT_TOO_LARGE);
        assertRefused("1e-99999999999999999999".getBytes(UTF_8), EXPONENT_TOO_LARGE);
        assertRefused("1e4294967296".getBytes(UTF_8), EXPONENT_TOO_LARGE);
        assertThat(canonical("[".repeat(200) + "]".repeat(200))).hasSize(400);
        assertRefused(("[".repeat(201) + "]".repeat(201)).getBytes(UTF_8), TOO_DEEP);
        assertThat(canonical("{\"a\":".repeat(200) + "1" + "}".repeat(200))).hasSize(1_201);
        assertRefused(("{\"a\":".repeat(200) + "[]" + "}".repeat(200)).getBytes(UTF_8), TOO_DEEP);
        assertThat(canonical(" ".repeat(1_048_575) + "1")).isEqualTo("1");
        assertRefused((" ".repeat(1_048_576) + "1").getBytes(UTF_8), TOO_LARGE);
    }

    @Test
    void limits_are_settings() {
        var limits = JsonLimits.DEFAULTS.withBytes(20).withDepth(2).withDigits(3).withExponent(4);
        assertThat(limits).isEqualTo(new JsonLimits(20, 2, 3, 4));
        var strict = new CanonicalJson(limits);
        assertThat(strict.canonicalize("[[123e4]]")).hasSize(9);
        assertReason(() -> strict.canonicalize("[[[]]]"), TOO_DEEP);
        assertReason(() -> strict.canonicalize("1234"), TOO_MANY_DIGITS);
        assertReason(() -> strict.canonicalize("1e5"), EXPONENT_TOO_LARGE);
        assertThat(strict.canonicalize("\"" + "x".repeat(18) + "\"")).hasSize(20);
        assertReason(() -> strict.canonicalize("\"" + "x".repeat(19) + "\""), TOO_LARGE);
        assertReason(() -> strict.canonicalize("\"" + "é".repeat(10) + "\""), TOO_LARGE);
        var wide = new CanonicalJson(new JsonLimits(10_000_000, 1_000, 1_000_000, 1_000_000));
        assertThat(wide.canonicalize("[".repeat(1_000) + "]".repeat(1_000))).hasSize(2_000);
        assertThat(new String(wide.canonicalize("1" + "0".repeat(999_999)), UTF_8))
                .isEqualTo("1e999999");
    }

    @ParameterizedTest
    @CsvSource({
        "0,1,1,1",
        "1,0,1,1",
        "1,1001,1,1",
        "1,1,0,1",
        "1,1,1000001,1",
        "1,1,1,-1",
        "1,1,1,1000001"
    })
    void limits_that_make_no_sense_are_refused(int bytes, int depth, int digits, int exponent) {
        assertThatThrownBy(() -> new JsonLimits(bytes, depth, digits, exponent))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("JSON limits: ");
        assertThat(new JsonLimits(1, 1, 1, 0)).isNotNull();
    }

    @Test
    void refusals_never_quote_the_payload() {
        for (String json :
                new String[] {
                    "{\"secret\":1,\"secret\":2}", "{\"secret\":secret}", "\"secret\\ud800\"",
                            "[1,2] secret",
                    "\"secret", "secret", "{secret:1}", "\"secret\n\""
                }) {
            var refusal =
                    catchThrowableOfType(
                            InvalidPayloadException.class,
                            () -> new CanonicalJson().canonicalize(json));
            assertThat(refusal).hasMessageStartingWith(refusal.reason() + ": ").hasNoCause();
            assertThat(refusal.getMessage()).doesNotContain("secret");
        }
        var refusal =
                catchThrowableOfType(InvalidPayloadException.class, () -> canonical("[1,\n x]"));
        assertThat(refusal).hasMessageEndingWith("(near byte 5 of the UTF-8 form)");
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void every_reason_says_what_to_do(Reason reason) {
        assertThat(new InvalidPayloadException(reason)).hasMessageMatching("[A-Z_0-9]+: .+[;,] .+");
    }

    private static String canonical(String json) {
        return new String(new CanonicalJson().canonicalize(json), UTF_8);
    }

    private static void assertRefused(byte[] json, Reason reason) {
        assertReason(() -> new CanonicalJson().canonicalize(json), reason);
    }

    static void assertReason(
            org.assertj.core.api.ThrowableAssert.ThrowingCallable call, Reason reason) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        InvalidPayloadException.class,
                        refusal -> assertThat(refusal.reason()).isEqualTo(reason))
                .hasNoCause();
    }

    private static byte[] join(byte[]... parts) {
        var sink = new ByteSink(1);
        for (byte[] part : parts) {
            sink.put(part, 0, part.length);
        }
        return sink.toArray();
    }
}
