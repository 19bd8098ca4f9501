package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/**
 * The work called something on its connection that would end or change the transaction, or used the
 * connection after the transaction had ended. The call had no effect.
 */
public final class TransactionControlException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Names the call, and says why it was refused and what to do. */
    public TransactionControlException(String call, String reason) {
        super(call + "() was refused: " + reason + ".");
    }
}
