package io.onlyonce.sql;

import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.ResultCipher;
import io.onlyonce.payload.UnknownResultKeyException;

import org.jspecify.annotations.Nullable;

import java.security.MessageDigest;
import java.util.Optional;

/**
 * Payload hashes as they are stored: as they are without a cipher, else under a key and bound to
 * the row they are in. A row without a key was written in clear, and is compared so.
 */
public final class KeyedHash {

    private final @Nullable ResultCipher cipher;

    public KeyedHash(Optional<ResultCipher> cipher) {
        this.cipher = cipher.orElse(null);
    }

    /** The key for a new row; null to leave it in clear. */
    public @Nullable String keyId() {
        return cipher == null ? null : Names.require(cipher.currentKeyId(), "result key id", 64);
    }

    /** The cipher, for a row that is under this key. */
    public ResultCipher cipher(String keyId) {
        if (cipher == null) {
            throw new UnknownResultKeyException(keyId);
        }
        return cipher;
    }

    /** What is stored of a hash. */
    public byte[] of(@Nullable String keyId, byte[] context, byte[] hash) {
        return keyId == null ? hash : cipher(keyId).hash(keyId, context, hash);
    }

    /** True if what is stored was computed from this payload. */
    public boolean matches(
            PayloadHash payload,
            int version,
            @Nullable String keyId,
            byte[] context,
            byte[] stored) {
        return payload.isOfKind(version)
                && MessageDigest.isEqual(of(keyId, context, payload.bytes(version)), stored);
    }
}
