package io.onlyonce.payload;

import io.onlyonce.OnlyOnceException;

/**
 * A work returned something that could not be stored and read back, so nothing of the command was
 * kept.
 *
 * <p>Return a record, a map, a {@code String} or a {@code byte[]}, or bring a codec for the type.
 */
public final class ResultNotEncodableException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** For codecs; the detail must not quote the result. */
    public ResultNotEncodableException(String detail) {
        super(
                "The result of the work cannot be stored for replay: "
                        + detail
                        + ". Return a record, a map, a String or a byte[], or use a codec that"
                        + " knows the type.");
    }
}
