package io.onlyonce.http;

import io.onlyonce.sql.Fingerprint;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The key under which a client repeats a request: the value of the header {@code Idempotency-Key},
 * without its quotes. It becomes the id of the command. Keys come from clients; the server never
 * makes one, because the client's next attempt would not know it.
 */
public final class IdempotencyKey {

    /** The name of the header. */
    public static final String HEADER = "Idempotency-Key";

    private final String value;

    IdempotencyKey(String value) {
        this.value = value;
    }

    /**
     * The key in these lines of the header, which must be one structured-field string; {@link
     * KeyFormat} has other rules.
     *
     * @param headerValues one element for each line of the header; null or empty if there is none
     * @throws InvalidIdempotencyKeyException with a reason, {@code MISSING} among them
     */
    public static IdempotencyKey parse(@Nullable List<String> headerValues) {
        return KeyFormat.strict().parse(headerValues);
    }

    /** The key itself: 1 to 255 printable ASCII characters. */
    public String value() {
        return value;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof IdempotencyKey that && value.equals(that.value);
    }

    @Override
    public int hashCode() {
        return value.hashCode();
    }

    /** A short hash, fit for logs; never the key. */
    @Override
    public String toString() {
        return "IdempotencyKey[#" + Fingerprint.of(value).toShortHex() + "]";
    }
}
