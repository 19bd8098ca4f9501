package io.onlyonce.payload;

import io.onlyonce.OnlyOnceException;

/**
 * A stored command is under a key that this process does not have, so nobody here can compare its
 * payload or read its result: the command is neither run nor called a mismatch.
 */
public final class UnknownResultKeyException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final String keyId;

    /** For ciphers. */
    public UnknownResultKeyException(String keyId) {
        super(
                "A stored command is under the key "
                        + keyId
                        + ", which this process does not have. Nothing was run. Give its"
                        + " ResultCipher this very key, and keep every key for as long as rows name"
                        + " it.");
        this.keyId = keyId;
    }

    /** The key that the row names. */
    public String keyId() {
        return keyId;
    }
}
