package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/**
 * The work called something on its connection that would end or change the transaction, or used the
 * connection after the transaction had ended. The call had no effect.
 */
public final class TransactionControlException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Names the call. */
    public TransactionControlException(String call, String reason) {
        super(
                "Connection."
                        + call
                        + "() was refused: "
                        + reason
                        + ". Return from the work to commit, throw to roll back.");
    }
}
