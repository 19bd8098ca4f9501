package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/**
 * COMMIT was sent and its answer did not arrive: the transaction is either wholly durable or wholly
 * rolled back. The connection was aborted. Ask again under the same command id, or look for the
 * effect, before repeating anything.
 */
public final class CommitOutcomeUnknownException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Keeps what the driver reported. */
    public CommitOutcomeUnknownException(Throwable cause) {
        super(
                "The answer to COMMIT was lost, so its outcome is unknown: nothing or everything is"
                    + " durable. Repeat it only under the same command id, or after looking for its"
                    + " effect.",
                cause);
    }
}
