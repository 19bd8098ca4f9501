package io.onlyonce.compare;

import java.sql.SQLException;

import javax.sql.DataSource;

/** The business transaction alone: nothing is safe to repeat. Three trips. */
record Bare(DataSource pool) implements Variant {

    @Override
    public void run(String id, int account, Runnable inside) throws SQLException {
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Business.post(connection, id, account);
            inside.run();
            connection.commit();
        }
    }
}
