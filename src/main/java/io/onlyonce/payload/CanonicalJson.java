package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.LONE_SURROGATE;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_LARGE;

import java.nio.charset.StandardCharsets;

/**
 * One spelling for every JSON text that means the same.
 *
 * <p>Keys are sorted by UTF-16 code unit, arrays keep their order, there is no whitespace, and only
 * what must be escaped is: {@code "}, {@code \}, and the control characters as {@code \b \t \n \f
 * \r} or <code>&#92;u00xx</code> with small hex digits. Text is never trimmed, case-folded or
 * normalised.
 *
 * <p>Numbers are exact decimals: an integer that does not end in zero, then {@code e} and the power
 * of ten unless that is 0. So {@code 1}, {@code 1.0} and {@code 10e-1} are {@code 1}; {@code 100}
 * is {@code 1e2}; {@code -0.250} is {@code -25e-2}; every zero is {@code 0}. Two numbers have the
 * same spelling if and only if they are equal.
 *
 * <p>The form is itself JSON, and is its own canonical form. Stateless and safe for any thread; the
 * cost grows with the length of the text, whatever the text says.
 */
public final class CanonicalJson {

    private final JsonLimits limits;

    /** Refuses with an {@link InvalidPayloadException} what is beyond these limits. */
    public CanonicalJson(JsonLimits limits) {
        this.limits = limits;
    }

    /** With {@link JsonLimits#DEFAULTS}. */
    public CanonicalJson() {
        this(JsonLimits.DEFAULTS);
    }

    /**
     * The canonical form of one JSON value in UTF-8; the argument is neither changed nor kept.
     *
     * @throws InvalidPayloadException with the reason, if the text has no single meaning or is too
     *     large
     */
    public byte[] canonicalize(byte[] utf8) {
        return new JsonScanner(utf8, limits).canonical().toArray();
    }

    /**
     * The canonical form of one JSON value, as UTF-8.
     *
     * @throws InvalidPayloadException with the reason, if the text has no single meaning or is too
     *     large
     */
    public byte[] canonicalize(String json) {
        return canonicalize(utf8(json, limits));
    }

    /** The canonical form of an array whose order means nothing. */
    static String canonicalizeSet(String json, JsonLimits limits) {
        ByteSink sorted = new JsonScanner(utf8(json, limits), limits).canonicalSet();
        return new String(sorted.bytes, 0, sorted.length, StandardCharsets.UTF_8);
    }

    /** UTF-8 that gives back exactly this text, which {@link String#getBytes} does not promise. */
    static byte[] utf8(String text, JsonLimits limits) {
        if (text.length() > limits.bytes()) { // a char never takes less than a byte
            throw new InvalidPayloadException(
                    TOO_LARGE, "the limit is " + limits.bytes() + " bytes");
        }
        if (hasLoneSurrogate(text)) {
            throw new InvalidPayloadException(LONE_SURROGATE);
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static boolean hasLoneSurrogate(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (!Character.isHighSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return true;
                }
                i++;
            }
        }
        return false;
    }
}
