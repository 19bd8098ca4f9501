package io.onlyonce.demo;

import io.onlyonce.Schema;
import io.onlyonce.tx.TransactionControlException;
import io.onlyonce.tx.TransactionTemplate;

import org.h2.jdbcx.JdbcDataSource;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * A bank of two accounts on an embedded database: what a transaction does when its work goes wrong.
 * Every line is proved from the database; the exit code is 0 only if all of them held.
 */
public final class Demo {

    private final JdbcDataSource dataSource = new JdbcDataSource();
    private final TransactionTemplate tx = new TransactionTemplate(dataSource);
    private int broken;

    private Demo() {
        dataSource.setURL("jdbc:h2:mem:demo;DB_CLOSE_DELAY=-1");
    }

    public static void main(String[] args) throws SQLException {
        var demo = new Demo();
        demo.run();
        System.out.println(
                demo.broken == 0
                        ? "\nEvery claim held."
                        : "\n" + demo.broken + " claims did not hold.");
        System.exit(demo.broken == 0 ? 0 : 1);
    }

    private void run() throws SQLException {
        System.out.println("OnlyOnce on an embedded H2\n");
        Schema.apply(dataSource);
        Schema.apply(dataSource);
        Schema.verify(dataSource);
        claim(
                "the schema is applied once, however often it is asked for",
                count("onlyonce.schema_version") == 1);

        tx.execute(
                connection -> {
                    update(
                            connection,
                            "CREATE TABLE account (name VARCHAR(10) PRIMARY KEY, cents INT CHECK"
                                    + " (cents >= 0))");
                    return update(
                            connection, "INSERT INTO account VALUES ('ann', 100), ('bob', 0)");
                });
        tx.execute(connection -> transfer(connection, 30));
        claim("a transfer moves the money", cents("ann") == 70 && cents("bob") == 30);

        try {
            tx.execute(connection -> transfer(connection, 500));
            claim("an overdraft fails", false);
        } catch (SQLException refused) {
            claim(
                    "an overdraft fails and leaves nothing behind",
                    cents("ann") == 70 && cents("bob") == 30);
        }
        try {
            tx.execute(
                    connection -> {
                        transfer(connection, 10);
                        connection.commit();
                        return 0;
                    });
            claim("work cannot commit behind our back", false);
        } catch (TransactionControlException refused) {
            claim("work cannot commit behind our back", cents("ann") == 70);
        }
    }

    private static int transfer(Connection connection, int cents) throws SQLException {
        update(connection, "UPDATE account SET cents = cents + " + cents + " WHERE name = 'bob'");
        return update(
                connection, "UPDATE account SET cents = cents - " + cents + " WHERE name = 'ann'");
    }

    private static int update(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            return statement.executeUpdate(sql);
        }
    }

    private long cents(String name) throws SQLException {
        return number("SELECT cents FROM account WHERE name = '" + name + "'");
    }

    private long count(String table) throws SQLException {
        return number("SELECT COUNT(*) FROM " + table);
    }

    private long number(String query) throws SQLException {
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    private void claim(String sentence, boolean held) {
        System.out.println((held ? "  ok      " : "  BROKEN  ") + sentence);
        broken += held ? 0 : 1;
    }
}
