package io.onlyonce.payload;

import java.util.Map;

/**
 * Keeps what commands leave behind from whoever reads the database: results and the details of
 * rejections are encrypted, payload hashes become keyed ones, so that a payload with few possible
 * values cannot be guessed from them.
 *
 * <p>Each row names the key it is under. New rows are under {@link #currentKeyId()}; older rows are
 * read with the keys that they name, so a key may be replaced at any time and removed once no row
 * names it. {@code context} is what a row belongs to (schema, scope, command id, status, content
 * tag): what was encrypted or hashed in one context must be worthless in any other.
 *
 * <p>Implementations must be safe for any thread, are called while a transaction is open, so should
 * have their keys in memory, and must not quote content in what they throw.
 */
public interface ResultCipher {

    /**
     * The key that new rows are under: 1 to 64 printable ASCII characters that stand for the same
     * key material for ever, in every process. It is stored in clear.
     */
    String currentKeyId();

    /** Encrypts, so that only {@link #decrypt} with the same key and context gives it back. */
    byte[] encrypt(String keyId, byte[] context, byte[] content);

    /**
     * The content that was encrypted.
     *
     * @throws UnknownResultKeyException if there is no such key here
     * @throws StoredResultUnreadableException if it was altered, or encrypted in another context
     */
    byte[] decrypt(String keyId, byte[] context, byte[] stored);

    /**
     * 32 bytes that depend on key, context and payload hash, and tell nothing about the hash to
     * whoever does not have the key.
     *
     * @throws UnknownResultKeyException if there is no such key here
     */
    byte[] hash(String keyId, byte[] context, byte[] payloadHash);

    /**
     * AES-256-GCM and HMAC-SHA-256, as the JDK has them, with keys derived from these.
     *
     * <p>Stored key ids are yours with eight digits behind them that check the key itself: another
     * key under a known id is told from the right one before anything is compared. To rotate, give
     * the new key to every process first, and only then make it the current one. One key is good
     * for four billion results.
     *
     * @param currentKeyId what new rows are under; one of the map's
     * @param keys 32 random bytes each, by ids of 1 to 48 letters, digits, dots, hyphens and
     *     underscores; copied
     */
    static ResultCipher aes256Gcm(String currentKeyId, Map<String, byte[]> keys) {
        return new AesGcmCipher(currentKeyId, keys);
    }
}
