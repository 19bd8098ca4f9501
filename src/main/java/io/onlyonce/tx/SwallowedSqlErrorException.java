package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

import java.sql.SQLException;

/**
 * The work returned normally although one of its statements had failed and aborted the transaction;
 * nothing was committed. Its cause is the last SQL error that the work met.
 */
public final class SwallowedSqlErrorException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Keeps the swallowed error. */
    public SwallowedSqlErrorException(SQLException cause) {
        super(
                "The work swallowed an SQL error that had already aborted the transaction, so"
                        + " everything is rolled back. Let the SQLException through, or undo to a"
                        + " savepoint of your own before going on.",
                cause);
    }
}
