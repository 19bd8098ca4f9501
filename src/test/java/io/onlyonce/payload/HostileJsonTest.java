package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.*;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.management.ThreadMXBean;

import io.onlyonce.payload.InvalidPayloadException.Reason;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Inputs made to be costly: each is answered in 50 ms and 16 MB, and each refusal names its reason.
 */
class HostileJsonTest {

    private static final int SIZE = 65_536;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    static Stream<Arguments> inputs() {
        return Stream.of(
                refused("deep arrays", TOO_DEEP, "[".repeat(SIZE)),
                refused("deep objects", TOO_DEEP, "{\"a\":".repeat(SIZE / 5)),
                refused("a number of 65,536 digits", TOO_MANY_DIGITS, "7".repeat(SIZE)),
                refused("a number of a million digits", TOO_MANY_DIGITS, "7".repeat(1_000_000)),
                refused(
                        "a fraction of a million digits",
                        TOO_MANY_DIGITS,
                        "0." + "7".repeat(1_000_000)),
                refused("a million zeros", TOO_MANY_DIGITS, "1" + "0".repeat(1_000_000)),
                refused(
                        "100,000 zeros behind the point",
                        TOO_MANY_DIGITS,
                        "0." + "0".repeat(100_000) + "1"),
                refused("1e1000000000", EXPONENT_TOO_LARGE, "1e1000000000"),
                refused("1e-1000000000", EXPONENT_TOO_LARGE, "1e-1000000000"),
                refused(
                        "an exponent of 65,000 digits",
                        EXPONENT_TOO_LARGE,
                        "1e" + "9".repeat(SIZE - 2)),
                accepted("an exponent of 65,000 zeros", "1e" + "0".repeat(SIZE - 2)),
                accepted("zeros with large exponents", list(i -> "0e1000000000")),
                accepted("numbers of 1,000 digits", list(i -> "9".repeat(1_000))),
                accepted("numbers that end in 998 zeros", list(i -> "1" + "0".repeat(998))),
                accepted("numbers with exponents at the limit", list(i -> "1e1000")),
                accepted("numbers that grow when canonical", list(i -> "1.5")),
                accepted("keys in falling order", members(i -> String.format("%06d", 999_999 - i))),
                accepted("keys whose hash codes collide", members(HostileJsonTest::colliding)),
                accepted(
                        "keys that share a long prefix",
                        members(i -> "x".repeat(300) + (i * 7919) % 1000)),
                accepted("keys in zigzag", members(i -> (i % 2 == 0 ? "a" : "b") + (100_000 - i))),
                accepted("escaped keys", members(i -> String.format("\\u%04x", 0xd7ff - i))),
                refused(
                        "a duplicate at the end",
                        DUPLICATE_KEY,
                        members(i -> "" + (100_000 - i)).replace("}", ",\"100000\":1}")),
                refused("one key, thousands of times", DUPLICATE_KEY, members(i -> "a")),
                accepted(
                        "unsorted objects in each other",
                        "{\"b\":0,\"a\":".repeat(200)
                                + "\""
                                + "x".repeat(60_000)
                                + "\""
                                + "}".repeat(200)),
                accepted("empty objects", list(i -> "{}")),
                accepted("objects with one member", list(i -> "{\"\":0}")),
                accepted("escapes only", "\"" + "\\u0000".repeat(SIZE / 6 - 1) + "\""),
                accepted("whitespace only but for a value", " ".repeat(SIZE - 1) + "1"),
                refused("whitespace only", EMPTY, " ".repeat(SIZE)),
                refused("an unclosed string", MALFORMED, "\"" + "x".repeat(SIZE - 1)),
                refused(
                        "a lone surrogate at the end",
                        LONE_SURROGATE,
                        "\"" + "x".repeat(SIZE - 10) + "\\ud800\""),
                refused("trailing garbage", TRAILING_CONTENT, "1" + " ".repeat(SIZE - 2) + "x"),
                refused("NUL bytes", MALFORMED, "\0".repeat(SIZE)),
                refused("NaN", MALFORMED, "[" + "1,".repeat(1000) + "NaN]"),
                refused("a comment", MALFORMED, "/*" + "x".repeat(SIZE - 6) + "*/1"),
                arguments(
                        "truncated UTF-8",
                        Optional.of(INVALID_UTF8),
                        Arrays.copyOf(("\"" + "é".repeat(SIZE / 2)).getBytes(UTF_8), SIZE)),
                arguments(
                        "another encoding",
                        Optional.of(INVALID_UTF8),
                        ("\"" + "é".repeat(SIZE - 2) + "\"").getBytes(ISO_8859_1)),
                arguments(
                        "UTF-16 with its mark",
                        Optional.of(BYTE_ORDER_MARK),
                        ("\ufeff\"" + "x".repeat(SIZE / 2) + "\"").getBytes(UTF_16BE)),
                refused("more than the size limit", TOO_LARGE, "1".repeat(1_048_577)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("inputs")
    void costs_less_than_50_ms_and_16_mb(String name, Optional<Reason> reason, byte[] json) {
        for (int i = 0; i < 20; i++) { // warm
            assertThat(reasonOf(json)).isEqualTo(reason);
        }
        long fastest = Long.MAX_VALUE;
        long bytes = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long allocated = THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
            long start = System.nanoTime();
            reasonOf(json);
            fastest = Math.min(fastest, System.nanoTime() - start);
            bytes =
                    Math.min(
                            bytes,
                            THREADS.getThreadAllocatedBytes(Thread.currentThread().getId())
                                    - allocated);
        }
        assertThat(Duration.ofNanos(fastest)).isLessThan(Duration.ofMillis(50));
        assertThat(bytes).isLessThan(16L << 20);
    }

    private static Optional<Reason> reasonOf(byte[] json) {
        try {
            PayloadHash.ofJson(json);
            return Optional.empty();
        } catch (InvalidPayloadException e) {
            return Optional.of(e.reason());
        }
    }

    private static Arguments refused(String name, Reason reason, String json) {
        return arguments(name, Optional.of(reason), json.getBytes(UTF_8));
    }

    private static Arguments accepted(String name, String json) {
        return arguments(name, Optional.empty(), json.getBytes(UTF_8));
    }

    /** As many as fit into 64 KB. */
    private static String list(IntFunction<String> element) {
        int count = SIZE / (element.apply(0).length() + 1) - 1;
        return IntStream.range(0, count)
                .mapToObj(element)
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static String members(IntFunction<String> key) {
        int count = Math.min(SIZE / (key.apply(0).length() + 5) - 4, 1_000_000);
        return IntStream.range(0, count)
                .mapToObj(i -> "\"" + key.apply(i) + "\":1")
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** "Aa" and "BB" have the same hash code, and so has every string of as many of them. */
    private static String colliding(int i) {
        return IntStream.range(0, 13)
                .mapToObj(bit -> (i >> bit & 1) == 0 ? "BB" : "Aa")
                .collect(Collectors.joining());
    }
}
