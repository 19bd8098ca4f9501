package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.ResultCipher;
import io.onlyonce.sql.SchemaName;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;

/** How a row is bound to its command, held by values that were computed in Python. */
class SealTest {

    @Test
    void a_row_of_today_is_readable_for_ever() {
        var key = new byte[32];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) i;
        }
        var seal =
                new Seal(
                        SchemaName.DEFAULT,
                        Optional.of(ResultCipher.aes256Gcm("k1", Map.of("k1", key))));
        assertThat(seal.hash("k1:3fce1b1f", Bank.SCOPE, "golden", 12, new byte[32]))
                .asHexString()
                .isEqualToIgnoringCase(
                        "64fe38f174f54de6c6245b1cbe374f5f32d3f74f6cff02a5f73a9aa023a6f363");

        byte[] stored =
                HexFormat.of()
                        .parseHex(
                                "01000102030405060708090a0b13e62d638e62ce62d6b68e8881a5c2cbd0b3f1c4"
                                        + "e80e7c");
        var row =
                new StoredRow(
                        StoredRow.COMPLETED,
                        12,
                        new byte[32],
                        "text",
                        "k1:3fce1b1f",
                        stored,
                        null,
                        OffsetDateTime.MIN,
                        false,
                        false,
                        false);
        var command = Command.of(Bank.SCOPE, "golden", PayloadHash.ofBytes(new byte[0]));
        assertThat(seal.result(command, row).bytes())
                .isEqualTo("receipt".getBytes(StandardCharsets.US_ASCII));
    }
}
