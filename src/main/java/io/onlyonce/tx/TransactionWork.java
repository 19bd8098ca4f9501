package io.onlyonce.tx;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * The user's SQL, run inside one transaction, possibly several times.
 *
 * @param <T> what it returns
 * @param <X> what it may throw besides {@link SQLException}
 */
@FunctionalInterface
public interface TransactionWork<T extends @Nullable Object, X extends Exception> {

    /** Does the work on this connection, which is the transaction; it must not end it. */
    T run(Connection connection) throws X, SQLException;
}
