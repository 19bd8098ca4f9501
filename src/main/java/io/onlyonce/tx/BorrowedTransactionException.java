package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/**
 * The data source handed out a connection that may belong to somebody else's transaction; it was
 * given back untouched.
 */
public final class BorrowedTransactionException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private BorrowedTransactionException(String what) {
        super(
                what
                        + ", so it may belong to a transaction that somebody else will end. Use the"
                        + " low road on that connection, or a data source of its own for"
                        + " OnlyOnce.");
    }

    /** Autocommit was off and nobody had said that it would be. */
    public static BorrowedTransactionException autoCommitOff() {
        return new BorrowedTransactionException(
                "The data source gave a connection with autocommit off and poolAutoCommitOff() is"
                        + " not declared");
    }

    /** Something had been written on it already. */
    public static BorrowedTransactionException inTransaction() {
        return new BorrowedTransactionException(
                "The data source gave a connection in the middle of a transaction");
    }
}
