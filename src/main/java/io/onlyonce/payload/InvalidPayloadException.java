package io.onlyonce.payload;

import io.onlyonce.OnlyOnceException;

/**
 * A payload that has no single meaning, or costs too much to find it, was refused before any
 * database work.
 *
 * <p>The message says what to do and where to look; it never quotes the payload, and neither does a
 * cause.
 */
public final class InvalidPayloadException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    InvalidPayloadException(Reason reason) {
        super(reason + ": " + reason.sentence);
        this.reason = reason;
    }

    InvalidPayloadException(Reason reason, String where) {
        super(reason + ": " + reason.sentence + " (" + where + ")");
        this.reason = reason;
    }

    static InvalidPayloadException at(Reason reason, int offset) {
        return new InvalidPayloadException(reason, "near byte " + offset + " of the UTF-8 form");
    }

    /**
     * Why the payload was refused; stable, so that callers may map it to an answer of their own.
     */
    public Reason reason() {
        return reason;
    }

    /** The ways a payload can be unfit for hashing. */
    public enum Reason {
        /** There is no JSON value, only nothing or whitespace. */
        EMPTY("the payload holds no JSON value; send one, or hash the body with ofBytes"),
        /** The text does not follow RFC 8259. */
        MALFORMED(
                "the payload is not JSON as RFC 8259 defines it; check quotes, commas and number"
                        + " spelling"),
        /** Something other than whitespace follows the value. */
        TRAILING_CONTENT("something follows the JSON value; send exactly one value"),
        /** The text begins with a byte order mark, in any encoding. */
        BYTE_ORDER_MARK("the payload begins with a byte order mark; send UTF-8 without one"),
        /** Bytes that no character has in UTF-8, overlong forms and encoded surrogates included. */
        INVALID_UTF8("the payload is not valid UTF-8; send the text in UTF-8"),
        /** Half of a surrogate pair, raw or escaped. */
        LONE_SURROGATE("a text holds half of a surrogate pair; send whole characters"),
        /** Two members of one object have the same name once escapes are resolved. */
        DUPLICATE_KEY(
                "an object holds one key twice; send each key once, since readers disagree on which"
                        + " counts"),
        /** Objects and arrays are nested beyond {@link JsonLimits#depth()}. */
        TOO_DEEP(
                "objects and arrays are nested too deeply; flatten the payload or raise the depth"
                        + " limit"),
        /** A number has more digits than {@link JsonLimits#digits()}. */
        TOO_MANY_DIGITS("a number has too many digits; send it as text or raise the digits limit"),
        /** A number's power of ten is beyond {@link JsonLimits#exponent()}. */
        EXPONENT_TOO_LARGE(
                "a number's exponent is too large; send it as text or raise the exponent limit"),
        /** The payload is longer than {@link JsonLimits#bytes()}. */
        TOO_LARGE(
                "the payload is too large; hash a digest or a reference to it, or raise the size"
                        + " limit"),
        /** A binary float is NaN or infinite, which JSON cannot say. */
        NOT_A_NUMBER(
                "a float is NaN or infinite, which JSON cannot say; send null or text instead"),
        /** An object has no JSON form under the fixed mapper. */
        NOT_SERIALIZABLE(
                "the object cannot be written as JSON; pass a record, a map or the JSON text"
                        + " itself");

        private final String sentence;

        Reason(String sentence) {
            this.sentence = sentence;
        }
    }
}
