package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

class PayloadHashVersionTest {

    /** What a release after this one might add: other bytes for the same payload. */
    private static final HashAlgorithm SECOND =
            (kind, schemaVersion, content) -> {
                byte[] hash = HashAlgorithm.FIRST.hash(kind, schemaVersion + 1_000, content);
                Arrays.sort(hash);
                return hash;
            };

    private static final HashVersions NEXT_RELEASE =
            new HashVersions(1, List.of(HashAlgorithm.FIRST, SECOND));
    private static final HashVersions RELEASE_AFTER =
            new HashVersions(2, List.of(HashAlgorithm.FIRST, SECOND));

    @Test
    void an_old_row_is_compared_by_its_own_algorithm() {
        PayloadHash today = PayloadHash.ofJson("{\"a\":1}");
        PayloadHash later = in(RELEASE_AFTER, "{\"a\":1}");
        PayloadHash other = in(RELEASE_AFTER, "{\"a\":2}");

        assertThat(later.currentVersion()).isEqualTo(21);
        assertThat(later.matches(11, today.bytes(11))).isTrue();
        assertThat(later.matches(21, later.bytes(21))).isTrue();
        assertThat(later.matches(21, today.bytes(11))).isFalse();
        assertThat(later.matches(11, later.bytes(21))).isFalse();
        assertThat(other.matches(11, today.bytes(11))).isFalse();
        assertThat(other.matches(21, later.bytes(21))).isFalse();
        assertThat(later.withSchemaVersion(7).matches(11, today.withSchemaVersion(7).bytes(11)))
                .isTrue();
        assertThat(later.withSchemaVersion(7).matches(11, today.bytes(11))).isFalse();
    }

    @Test
    void the_version_written_is_a_setting() {
        PayloadHash careful = in(NEXT_RELEASE, "{\"a\":1}");
        assertThat(careful.currentVersion()).isEqualTo(11);
        assertThat(careful.version(1)).isEqualTo(11);
        assertThat(careful.version(2)).isEqualTo(21);
        assertThat(careful.bytes(careful.version(2)))
                .isEqualTo(in(RELEASE_AFTER, "{\"a\":1}").bytes(21));
        assertThat(careful.bytes(21)).isNotEqualTo(careful.bytes(11));
        assertThatThrownBy(() -> careful.version(3))
                .isInstanceOf(UnsupportedHashVersionException.class);
        assertThatThrownBy(() -> careful.version(0))
                .isInstanceOf(UnsupportedHashVersionException.class);
    }

    @Test
    void hashes_of_different_versions_are_not_equal() {
        assertThat(in(RELEASE_AFTER, "1")).isNotEqualTo(in(NEXT_RELEASE, "1"));
        assertThat(in(NEXT_RELEASE, "1")).isEqualTo(PayloadHash.ofJson("1"));
        HashAlgorithm constant = (kind, schemaVersion, content) -> new byte[32];
        assertThat(
                        new PayloadHash(
                                new HashVersions(1, List.of(constant, constant)),
                                PayloadKind.JSON,
                                0,
                                new byte[1]))
                .isNotEqualTo(
                        new PayloadHash(
                                new HashVersions(2, List.of(constant, constant)),
                                PayloadKind.JSON,
                                0,
                                new byte[1]));
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                1,
                -11,
                10,
                14,
                19,
                20,
                21,
                22,
                23,
                111,
                Integer.MIN_VALUE,
                Integer.MAX_VALUE
            })
    void an_unknown_version_is_neither_match_nor_mismatch(int version) {
        PayloadHash hash = PayloadHash.ofJson("{}");
        assertThatThrownBy(() -> hash.matches(version, hash.bytes(11)))
                .isInstanceOfSatisfying(
                        UnsupportedHashVersionException.class,
                        e -> assertThat(e.version()).isEqualTo(version))
                .hasMessageContaining("version " + version + " is unknown");
        assertThatThrownBy(() -> hash.bytes(version))
                .isInstanceOf(UnsupportedHashVersionException.class);
    }

    @Test
    void a_known_version_of_another_kind_is_a_mismatch() {
        byte[] bytes = "{}".getBytes(UTF_8);
        PayloadHash json = PayloadHash.ofJson(bytes);
        assertThat(json.matches(12, PayloadHash.ofBytes(bytes).bytes(12))).isFalse();
        assertThat(json.matches(12, json.bytes(11))).isFalse();
        assertThat(json.matches(13, PayloadHash.ofFields(Map.of()).bytes(13))).isFalse();
        assertThatThrownBy(() -> json.bytes(12))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another kind");
    }

    @Test
    void a_stored_hash_of_the_wrong_length_is_a_mismatch() {
        PayloadHash hash = PayloadHash.ofJson("{}");
        assertThat(hash.matches(11, new byte[0])).isFalse();
        assertThat(hash.matches(11, Arrays.copyOf(hash.bytes(11), 31))).isFalse();
        assertThat(hash.matches(11, Arrays.copyOf(hash.bytes(11), 33))).isFalse();
    }

    private static PayloadHash in(HashVersions release, String json) {
        return new PayloadHash(
                release, PayloadKind.JSON, 0, new CanonicalJson().canonicalize(json));
    }
}
