package io.onlyonce.http;

import java.util.Locale;

/** Why a request was refused, for programs to decide on. */
public enum ProblemCode {
    /** The operation requires a key and there is none. */
    MISSING_IDEMPOTENCY_KEY(
            400,
            false,
            "The request has no Idempotency-Key",
            "Choose a key for this intent and send it with every attempt."),
    /** The header is there and holds no key that is accepted. */
    INVALID_IDEMPOTENCY_KEY(
            400,
            false,
            "The Idempotency-Key is not valid",
            "Send one key as a string between double quotes."),
    /** The body, path or query has no single meaning, or is too large. */
    INVALID_PAYLOAD(
            400,
            false,
            "The request cannot be read in one way only",
            "Correct it and send it again."),
    /** The key stands for another request. */
    IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_REQUEST(
            422,
            false,
            "The Idempotency-Key was used for another request",
            "Nothing was done. Send a new intent under a new key."),
    /** The first attempt has not ended yet. */
    IDEMPOTENCY_REQUEST_IN_PROGRESS(
            409,
            true,
            "The request is still being processed",
            "Send it again, unchanged and under the same key, a little later."),
    /** The answer is no longer kept, and the key not yet free. */
    IDEMPOTENCY_RECORD_EXPIRED(
            409,
            false,
            "The Idempotency-Key has expired",
            "Look at the current state before you send the intent under a new key."),
    /** Nobody can tell yet what became of the request. */
    IDEMPOTENCY_OUTCOME_UNKNOWN(
            409,
            false,
            "It is not known what became of the request",
            "Do not send it under another key. Ask for help with the reference."),
    /** It was completed, but its answer is not stored any more, or cannot be read. */
    IDEMPOTENCY_RESULT_NOT_STORED(
            409,
            false,
            "The request was completed, and its answer is not stored",
            "It is not done again. Look at the current state."),
    /** The caller has used up its budget of new keys. */
    IDEMPOTENCY_KEY_BUDGET_EXCEEDED(
            429,
            true,
            "Too many new Idempotency-Keys",
            "Send the request again, under the same key, a little later."),
    /** The answer is too large to be stored, so nothing was done. */
    IDEMPOTENCY_RESULT_TOO_LARGE(
            500,
            false,
            "The answer is too large to be repeated",
            "Nothing was done. The operator of this API has to raise the limit.");

    private final int status;
    private final boolean retryable;
    private final String title;
    private final String detail;

    ProblemCode(int status, boolean retryable, String title, String detail) {
        this.status = status;
        this.retryable = retryable;
        this.title = title;
        this.detail = detail;
    }

    /** The document for this code as it is by default. */
    public ProblemDetails details() {
        return new ProblemDetails(
                ProblemDetails.TYPES + name().toLowerCase(Locale.ROOT).replace('_', '-'),
                title,
                status,
                detail,
                name(),
                retryable);
    }
}
