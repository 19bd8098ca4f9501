package io.onlyonce.compare;

import java.sql.SQLException;

import javax.sql.DataSource;

/** One way to do the same business once under an id. */
@FunctionalInterface
interface Variant {

    /** Makes a variant on a pool. */
    @FunctionalInterface
    interface Maker {
        Variant on(DataSource pool) throws SQLException;
    }

    Runnable NOTHING = () -> {};

    /** Does it; {@code inside} runs in the transaction, after the business's own statements. */
    void run(String id, int account, Runnable inside) throws SQLException;

    default void run(String id, int account) throws SQLException {
        run(id, account, NOTHING);
    }
}
