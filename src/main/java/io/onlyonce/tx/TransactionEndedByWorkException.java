package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/**
 * The work ended the transaction with SQL text (COMMIT or ROLLBACK) and went on in another one,
 * which is rolled back.
 */
public final class TransactionEndedByWorkException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Says so. */
    public TransactionEndedByWorkException() {
        super(
                "The work ended the transaction itself with SQL text. What it wrote before that may"
                    + " be durable, what it wrote after is rolled back. Remove COMMIT and ROLLBACK"
                    + " from the work.");
    }
}
