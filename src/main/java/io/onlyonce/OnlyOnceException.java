package io.onlyonce;

import org.jspecify.annotations.Nullable;

/**
 * The root of every exception that OnlyOnce itself throws.
 *
 * <p>Messages say what happened and what to do; they never quote ids, payloads or results.
 */
public abstract class OnlyOnceException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** For leaves that have nothing beneath them. */
    protected OnlyOnceException(String message) {
        super(message);
    }

    /** For leaves that wrap what the driver, the codec or the work reported. */
    protected OnlyOnceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
