package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;

class ResultCipherTest {

    private static final byte[] CONTEXT = "some context".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] CONTENT = "{\"iban\":\"DE00\"}".getBytes(StandardCharsets.US_ASCII);

    private static byte[] key(int first) {
        var key = new byte[32];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) (first + i);
        }
        return key;
    }

    private final ResultCipher cipher = ResultCipher.aes256Gcm("k1", Map.of("k1", key(0)));

    /** The values were computed in Python. */
    @Test
    void what_was_stored_once_is_readable_for_ever() {
        assertThat(cipher.currentKeyId()).isEqualTo("k1:3fce1b1f");
        assertThat(
                        cipher.decrypt(
                                "k1:3fce1b1f",
                                CONTEXT,
                                HexFormat.of()
                                        .parseHex(
                                                "01000102030405060708090a0b1aa12764867c98b0c64c6d"
                                                    + "aea5d02b767f23a8a48bc7cce0b5f70201c3e1c5")))
                .isEqualTo(CONTENT);
        assertThat(cipher.hash("k1:3fce1b1f", CONTEXT, new byte[32]))
                .asHexString()
                .isEqualToIgnoringCase(
                        "407c74687eef67012ae03f63987d5274f55825c0b00b6b5c4f1e2d26a94ba4a6");
    }

    @Test
    void equal_contents_are_stored_differently_and_come_back() {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            byte[] stored = cipher.encrypt(cipher.currentKeyId(), CONTEXT, CONTENT);
            assertThat(cipher.decrypt(cipher.currentKeyId(), CONTEXT, stored)).isEqualTo(CONTENT);
            assertThat(seen.add(HexFormat.of().formatHex(stored))).isTrue();
        }
        byte[] nothing = cipher.encrypt(cipher.currentKeyId(), CONTEXT, new byte[0]);
        assertThat(cipher.decrypt(cipher.currentKeyId(), CONTEXT, nothing)).isEmpty();
    }

    @Test
    void a_changed_bit_or_another_context_is_not_decrypted() {
        byte[] stored = cipher.encrypt(cipher.currentKeyId(), CONTEXT, CONTENT);
        for (int bit = 0; bit < stored.length * 8; bit++) {
            byte[] changed = stored.clone();
            changed[bit / 8] ^= (byte) (1 << (bit % 8));
            refuses(CONTEXT, changed);
        }
        for (int length = 0; length < stored.length; length++) {
            refuses(CONTEXT, Arrays.copyOf(stored, length));
        }
        refuses(Arrays.copyOf(CONTEXT, CONTEXT.length - 1), stored);
    }

    private void refuses(byte[] context, byte[] stored) {
        assertThatThrownBy(() -> cipher.decrypt(cipher.currentKeyId(), context, stored))
                .isInstanceOf(StoredResultUnreadableException.class)
                .hasMessageContaining("altered")
                .hasNoCause();
    }

    @Test
    void a_rotated_cipher_reads_what_the_old_one_wrote_and_writes_under_the_new_key() {
        var rotated = ResultCipher.aes256Gcm("k2", Map.of("k1", key(0), "k2", key(100)));
        byte[] stored = cipher.encrypt(cipher.currentKeyId(), CONTEXT, CONTENT);

        assertThat(rotated.currentKeyId()).startsWith("k2:");
        assertThat(rotated.decrypt(cipher.currentKeyId(), CONTEXT, stored)).isEqualTo(CONTENT);
        assertThat(rotated.hash(cipher.currentKeyId(), CONTEXT, new byte[32]))
                .isEqualTo(cipher.hash(cipher.currentKeyId(), CONTEXT, new byte[32]))
                .isNotEqualTo(rotated.hash(rotated.currentKeyId(), CONTEXT, new byte[32]));
        assertThatThrownBy(() -> cipher.decrypt(rotated.currentKeyId(), CONTEXT, stored))
                .isInstanceOfSatisfying(
                        UnknownResultKeyException.class,
                        e -> assertThat(e.keyId()).isEqualTo(rotated.currentKeyId()));
    }

    @Test
    void another_key_under_a_known_id_is_told_from_the_right_one() {
        var other = ResultCipher.aes256Gcm("k1", Map.of("k1", key(1)));
        byte[] stored = cipher.encrypt(cipher.currentKeyId(), CONTEXT, CONTENT);
        assertThatThrownBy(() -> other.decrypt(cipher.currentKeyId(), CONTEXT, stored))
                .isInstanceOf(UnknownResultKeyException.class);
        assertThatThrownBy(() -> other.hash(cipher.currentKeyId(), CONTEXT, new byte[32]))
                .isInstanceOf(UnknownResultKeyException.class);
    }

    @Test
    void keys_are_copied_and_never_shown() {
        byte[] mine = key(0);
        var copied = ResultCipher.aes256Gcm("k1", Map.of("k1", mine));
        Arrays.fill(mine, (byte) 0);
        byte[] stored = copied.encrypt(copied.currentKeyId(), CONTEXT, CONTENT);
        assertThat(cipher.decrypt(cipher.currentKeyId(), CONTEXT, stored)).isEqualTo(CONTENT);
        assertThat(copied).hasToString("AES-256-GCM under k1:3fce1b1f");
    }

    @Test
    void bad_keys_are_refused_with_a_sentence() {
        assertThatThrownBy(() -> ResultCipher.aes256Gcm("k1", Map.of("k1", new byte[16])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("32 bytes");
        assertThatThrownBy(() -> ResultCipher.aes256Gcm("k1", Map.of("k2", key(0))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("one of the keys");
        for (String id : new String[] {"", "a:b", "k 1", "x".repeat(49)}) {
            assertThatThrownBy(() -> ResultCipher.aes256Gcm(id, Map.of(id, key(0))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("key id");
        }
    }
}
