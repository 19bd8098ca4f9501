package io.onlyonce.http;

import io.onlyonce.OnlyOnceException;

/** The header {@code Idempotency-Key} holds no key; nothing was done. The key is not quoted. */
public final class InvalidIdempotencyKeyException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    InvalidIdempotencyKeyException(Reason reason) {
        super(reason.sentence);
        this.reason = reason;
    }

    /** Why; stable, so that programs may decide on it. */
    public Reason reason() {
        return reason;
    }

    /** The ways in which a header holds no key. */
    public enum Reason {
        /** There is no such header. */
        MISSING(
                "The header Idempotency-Key is missing. Choose a key for this intent and send it"
                        + " with every attempt."),
        /** Several lines, or several members in one. */
        SEVERAL_VALUES("There is more than one Idempotency-Key. Send exactly one."),
        /** Not one structured-field string. */
        MALFORMED(
                "The Idempotency-Key is not a string of printable ASCII between double quotes, in"
                        + " which only the double quote and the backslash are escaped."),
        /** Nothing between the quotes, or no value at all. */
        EMPTY("The Idempotency-Key is empty. Choose a key that no other intent has."),
        /** More than 255 characters. */
        TOO_LONG("The Idempotency-Key has more than 255 characters."),
        /** Fewer characters than the API asks for. */
        TOO_SHORT("The Idempotency-Key is shorter than this API accepts. Use a random UUID."),
        /** A space at either end, or not of the form that the API asks for. */
        UNACCEPTABLE(
                "The Idempotency-Key begins or ends with a space, or has not the form that this API"
                        + " accepts.");

        private final String sentence;

        Reason(String sentence) {
            this.sentence = sentence;
        }
    }
}
