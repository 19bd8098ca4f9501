package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.Test;

import java.math.BigDecimal;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Hashes as they lie in databases: a change here is a new algorithm version, never an edit.
 *
 * <p>The constants were computed by a few lines of Python from the documented form, not by this
 * code.
 */
class GoldenHashTest {

    record Order(
            String id,
            BigDecimal amount,
            double weight,
            float share,
            Set<String> tags,
            LocalDate due,
            Instant at,
            Duration ttl,
            ZoneId zone,
            Optional<String> note,
            Map<Integer, List<Double>> series,
            byte[] raw) {}

    @Test
    void the_frame_is_four_length_prefixed_parts() throws Exception {
        byte[] frame =
                HexFormat.of()
                        .parseHex(
                                ("00000012"
                                     + " 6f6e6c796f6e63652f7061796c6f61642f31" // onlyonce/payload/1
                                                + "00000004 6a736f6e" // json
                                                + "00000004 01020307" // schema version
                                                + "00000007 7b2261223a317d")
                                        .replace(" ", "")); // {"a":1}
        byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(frame);
        assertThat(PayloadHash.ofJson(" {\"a\": 1.0} ").withSchemaVersion(0x01020307).bytes(11))
                .isEqualTo(sha256);
    }

    @Test
    void fields_are_encoded_as_documented() throws Exception {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("\uffff", null);
        fields.put("😀", new byte[] {0, 1});
        fields.put("b", 100);
        fields.put("a", "é");
        byte[] frame =
                HexFormat.of()
                        .parseHex(
                                ("00000012 6f6e6c796f6e63652f7061796c6f61642f31"
                                                + "00000006 6669656c6473" // fields
                                                + "00000004 00000000"
                                                + "00000038 00000004" // four fields
                                                + "00000001 61 73 00000002 c3a9"
                                                + "00000001 62 6a 00000003 316532"
                                                + "00000004 f09f9880 62 00000002 0001"
                                                + "00000003 efbfbf 6e 00000000")
                                        .replace(" ", ""));
        byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(frame);
        assertThat(PayloadHash.ofFields(fields).bytes(13)).isEqualTo(sha256);
    }

    @Test
    void json_bytes_and_fields() {
        assertHash(
                PayloadHash.ofJson("{}"),
                "a92e8e56a6cb8a42aa8b3840c13dd987e04c57f0c38afdbacc831eaf38f9dc33");
        assertHash(
                PayloadHash.ofJson(
                        "{\"b\":[1,2.50,-0,1e400,true,null],\"a\":\"\\u00e9\\n\\ud83d\\ude00/\"}"),
                "00d123ad9aab93ac8f32d133d5f8bef5e57b8d9ec53e0470f5f82a7b51c2f422");
        assertHash(
                PayloadHash.ofJson("{\"b\":1}").withSchemaVersion(3),
                "7940768e318295b9d9d10a8418ca7d101564c916eeddb8ace51006d94bfc8629");
        assertHash(
                PayloadHash.ofBytes(new byte[0]),
                "876048814f2e4f0c579d2cbaff23d06c35f4898983b5a4bc57c797184c63f83b");
        assertHash(
                PayloadHash.ofBytes("{}".getBytes(UTF_8)),
                "40dd8d944eaf862b297fbd67e411f1e9b33f16d5d85082a646f9e558b3b77e7a");
        assertHash(
                PayloadHash.ofFields(Map.of()),
                "a9c21285560abb0bbd4958348a82d4b7cbd6c31aee189c94ca837f6f146e389b");
        assertHash(
                PayloadHash.ofFields(
                        Map.of(
                                "account",
                                "a-1",
                                "amount",
                                new BigDecimal("10.50"),
                                "raw",
                                new byte[] {1})),
                "4a12698b5e0f559ad9e0d753a3b339c746b1b146e247a04cea0a37fc28647d4c");
    }

    @Test
    void objects_on_every_jdk() {
        var order =
                new Order(
                        "o-1",
                        new BigDecimal("10.50"),
                        2.0E-3,
                        1.17549435E-38f,
                        Set.of("a", "b", "c", "d"),
                        LocalDate.of(2024, 2, 29),
                        Instant.ofEpochSecond(1_700_000_000, 120),
                        Duration.ofSeconds(-1, 1),
                        ZoneId.of("Europe/Berlin"),
                        Optional.of("n"),
                        Map.of(
                                1,
                                List.of(
                                        2e23,
                                        2.2250738585072014E-308,
                                        4.9E-324,
                                        8.41E21,
                                        2.0E-44,
                                        1.0E23)),
                        new byte[] {1, 2});
        assertHash(
                PayloadHash.ofJson(order),
                "2ed650a9404d501f358a146a8d732452806243b57dba067f5194e72746997d17");
        assertHash(
                PayloadHash.ofJson(awkwardDoubles()),
                "1e0f183906257193d96b280e3369ee54fad4c0ceac2fdd9b33fa643c3b1977c3");
    }

    /** Many of these print differently before and after JDK 19. */
    private static double[] awkwardDoubles() {
        var doubles = new double[4_000];
        long bits = 0x9E3779B97F4A7C15L;
        for (int i = 0; i < doubles.length; i++) {
            bits = bits * 6364136223846793005L + 1442695040888963407L;
            double value =
                    i % 2 == 0 ? Double.longBitsToDouble(bits) : Math.scalb(1.0, i % 2_000 - 1_000);
            doubles[i] = Double.isFinite(value) ? value : i;
        }
        return doubles;
    }

    private static void assertHash(PayloadHash hash, String hex) {
        assertThat(HexFormat.of().formatHex(hash.bytes(hash.currentVersion()))).isEqualTo(hex);
    }
}
