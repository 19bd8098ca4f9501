package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.onlyonce.http.InvalidIdempotencyKeyException.Reason;

import org.greenbytes.http.sfv.ParseException;
import org.greenbytes.http.sfv.Parser;
import org.greenbytes.http.sfv.StringItem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;

/** Which headers hold a key, by the draft and the structured fields that it builds on. */
class IdempotencyKeyTest {

    private static final KeyFormat LENIENT = KeyFormat.lenient();

    private static Reason refused(KeyFormat format, String... lines) {
        return catchThrowableOfType(
                        InvalidIdempotencyKeyException.class, () -> format.parse(List.of(lines)))
                .reason();
    }

    private static Reason refused(String... lines) {
        return refused(KeyFormat.strict(), lines);
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "\"8e03978e-40d5-43e8-bc93-6894a57f9324\", 8e03978e-40d5-43e8-bc93-6894a57f9324",
                "\"k\", k",
                "`  \"k\"  `, k",
                "\"two words\", two words",
                "\"a\\\"b\", a\"b",
                "\"a\\\\b\", a\\b",
                "\"\\\"\\\\\", \"\\",
                "`\"a,b;c=d\"`, `a,b;c=d`",
                "\"'\", '",
                "\"k\";attempt=2, k",
                "\"k\"; a;b=?0;c=\"x\\\"\";d=:aGk=:;e=-1.5;f=tok/en:1;*g=@1700000000, k",
                "\"k\";d=%\"f%c3%bc az09 ~\", k",
                "\"k\";d=%\"%a0%f9\", k",
                "\"k\";a=123456789012345;b=-999999999999.123, k",
                "\"k\";az09_-.*=a;z=:AZaz09+/==:, k",
            })
    void a_structured_string_is_a_key(String line, String key) {
        assertThat(IdempotencyKey.parse(List.of(line)).value()).isEqualTo(key);
        assertThat(LENIENT.parse(List.of(line)).value()).isEqualTo(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "token",
                "8e03978e-40d5-43e8-bc93-6894a57f9324",
                "42",
                "4.2",
                "?1",
                ":aGVsbG8=:",
                "@1700000000",
                "(\"k\")",
                "'k'",
                "\"k",
                "k\"",
                "\"",
                "\"\\\"",
                "\"a\\nb\"",
                "\"a\\",
                "\"a\tb\"",
                "\"a\u0000b\"",
                "\"a\u007fb\"",
                "\"schl\u00fcssel\"",
                "\"\u6f22\"",
                "\t\"k\"",
                "\"k\"x",
                "\"k\" ;a",
                "\"k\";",
                "\"k\";A",
                "\"k\";a=",
                "\"k\";a=?2",
                "\"k\";a=1.",
                "\"k\";a=1.2345",
                "\"k\";a=1234567890123456",
                "\"k\";a=1234567890123.1",
                "\"k\";a=-",
                "\"k\";a=:x",
                "\"k\";a=:====:",
                "\"k\";a=:a===:",
                "\"k\";a=%\"%g0\"",
                "\"k\";a=%\"%0g\"",
                "\"k\";a=%\"%0",
                "\"k\";a=%\"\u007f\"",
                "\"k\";a=%\"\u001f\"",
                "\"k\";a=1234567890123.123",
                "\"k\";a=@1.5",
                "\"k\";a=%\"%C3\"",
                "\"k\";a=\"x",
                "\"k\"\"l\"",
            })
    void anything_else_is_malformed(String line) {
        assertThat(refused(line)).isEqualTo(Reason.MALFORMED);
    }

    @Test
    void each_other_mistake_has_its_own_reason() {
        assertThatThrownBy(() -> IdempotencyKey.parse(null)).hasMessageContaining("missing");
        assertThat(refused()).isEqualTo(Reason.MISSING);
        assertThat(refused("")).isEqualTo(Reason.EMPTY);
        assertThat(refused("   ")).isEqualTo(Reason.EMPTY);
        assertThat(refused("\"\"")).isEqualTo(Reason.EMPTY);
        assertThat(refused("\"" + "k".repeat(256) + "\"")).isEqualTo(Reason.TOO_LONG);
        assertThat(refused("\"a\"", "\"a\"")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused("\"a", "b\"")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused("\"a\", \"b\"")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused("\"a\" , \"b\"")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused("\"a\";p=1,\"b\"")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused("\" k\"")).isEqualTo(Reason.UNACCEPTABLE);
        assertThat(refused("\"k \"")).isEqualTo(Reason.UNACCEPTABLE);
        assertThat(refused(KeyFormat.strict().withShortest(20), "\"short\""))
                .isEqualTo(Reason.TOO_SHORT);
        assertThat(refused(KeyFormat.strict().withPattern(Pattern.compile("[0-9]+")), "\"1a\""))
                .isEqualTo(Reason.UNACCEPTABLE);
    }

    @Test
    void bounds_are_inclusive() {
        String longest = "k".repeat(255);
        assertThat(IdempotencyKey.parse(List.of("\"" + longest + "\"")).value()).isEqualTo(longest);
        assertThat(KeyFormat.strict().withShortest(3).parse(List.of("\"abc\"")).value())
                .isEqualTo("abc");
        assertThat(
                        KeyFormat.strict()
                                .withShortest(255)
                                .parse(List.of("\"" + longest + "\""))
                                .value())
                .isEqualTo(longest);
        assertThat(
                        KeyFormat.strict()
                                .withPattern(Pattern.compile("[0-9]+"))
                                .parse(List.of("\"12\""))
                                .value())
                .isEqualTo("12");
        assertThat(LENIENT.parse(List.of("~!"))).isNotEqualTo(LENIENT.parse(List.of("~")));
        assertThatThrownBy(() -> KeyFormat.strict().withShortest(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> KeyFormat.strict().withShortest(256))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_lenient_api_takes_the_key_with_and_without_quotes() {
        assertThat(LENIENT.parse(List.of("8e03978e")))
                .isEqualTo(LENIENT.parse(List.of("\"8e03978e\"")));
        assertThat(LENIENT.parse(List.of(" k ")).value()).isEqualTo("k");
        assertThat(LENIENT.parse(List.of(":aGk=:")).value()).isEqualTo(":aGk=:");
        assertThat(refused(LENIENT, "a b")).isEqualTo(Reason.MALFORMED);
        assertThat(refused(LENIENT, "a\"b")).isEqualTo(Reason.MALFORMED);
        assertThat(refused(LENIENT, "schl\u00fcssel")).isEqualTo(Reason.MALFORMED);
        assertThat(refused(LENIENT, "a,b")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused(LENIENT, "a", "a")).isEqualTo(Reason.SEVERAL_VALUES);
        assertThat(refused(LENIENT, "k".repeat(256))).isEqualTo(Reason.TOO_LONG);
        assertThat(refused(LENIENT, "")).isEqualTo(Reason.EMPTY);
        assertThat(refused(LENIENT, "\"k")).isEqualTo(Reason.MALFORMED);
    }

    @Test
    void no_text_of_ours_quotes_the_key() {
        assertThat(IdempotencyKey.parse(List.of("\"secret-key\"")).toString())
                .doesNotContain("secret");
        assertThatThrownBy(() -> IdempotencyKey.parse(List.of("\"secret")))
                .hasMessageNotContaining("secret");
    }

    /** Another implementation, of the older RFC, has the same opinion of random lines. */
    @Test
    void another_parser_agrees() {
        var random = new Random(8941);
        String[] pieces = {
            "\"", "\"", "\"", "\\", "\\\"", "\\\\", "a", "Z", "0", " ", ";", "=", "*", "k", "-",
            ".", ":", "?", "?1", ",", "/", "_", "12", "1.5", ":aGk=:", ";a=1", ";b", "\u00e9", "\t",
            "~"
        };
        int accepted = 0;
        for (int i = 0; i < 300_000; i++) {
            var line = new StringBuilder(random.nextInt(4) > 0 ? "\"" : "");
            for (int n = random.nextInt(8); n > 0; n--) {
                line.append(pieces[random.nextInt(pieces.length)]);
            }
            line.append(random.nextInt(4) > 0 ? "\"" : "");
            if (random.nextInt(3) == 0) {
                line.append(";p").append(random.nextBoolean() ? "=" : "");
                line.append(pieces[random.nextInt(pieces.length)]);
            }
            Optional<String> theirs = theirs(line.toString());
            Optional<String> ours = ours(line.toString());
            assertThat(ours).as("of <%s>", line).isEqualTo(theirs);
            accepted += ours.isPresent() ? 1 : 0;
        }
        assertThat(accepted).isGreaterThan(30_000);
    }

    private static Optional<String> ours(String line) {
        try {
            return Optional.of(new StructuredString(StructuredString.withoutSpaces(line)).value());
        } catch (InvalidIdempotencyKeyException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> theirs(String line) {
        try {
            return new Parser(line).parseItem() instanceof StringItem text
                    ? Optional.of(text.get())
                    : Optional.empty();
        } catch (ParseException e) {
            return Optional.empty();
        }
    }
}
