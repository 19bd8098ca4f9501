package io.onlyonce.payload;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** How one generation of hashes is computed; frozen once rows were written with it. */
interface HashAlgorithm {

    /**
     * SHA-256 over four parts, each behind its length in four bytes: name, kind, schema version,
     * content.
     */
    HashAlgorithm FIRST =
            (kind, schemaVersion, content) -> {
                var frame = new ByteSink(64);
                frame.putFramed("onlyonce/payload/1".getBytes(StandardCharsets.US_ASCII));
                frame.putFramed(kind.label.getBytes(StandardCharsets.US_ASCII));
                frame.putInt(4);
                frame.putInt(schemaVersion);
                frame.putInt(content.length);
                MessageDigest sha256 = sha256();
                sha256.update(frame.bytes, 0, frame.length);
                return sha256.digest(content);
            };

    /**
     * 32 bytes that depend on all three and on nothing else.
     *
     * @param content canonical JSON, the bytes themselves, or the encoded fields: nothing of the
     *     payload's meaning is missing, so a later generation can always start from it
     */
    byte[] hash(PayloadKind kind, int schemaVersion, byte[] content);

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(
                    "Every Java platform must have SHA-256; this one does not", e);
        }
    }
}
