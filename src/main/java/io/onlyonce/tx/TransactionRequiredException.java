package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/**
 * A claim on a connection with autocommit on would be durable before the work; nothing was sent.
 */
public final class TransactionRequiredException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Says so. */
    public TransactionRequiredException() {
        super(
                "The connection is in autocommit mode, where a claim would be durable before its"
                    + " work. Call setAutoCommit(false) first, or let OnlyOnce own the transaction"
                    + " (run, process).");
    }
}
