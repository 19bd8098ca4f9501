package bank;

import java.sql.Connection;
import java.sql.SQLException;

/** Plain SQL on the connection that is given; knows nothing of repetition. */
final class Accounts {

    void create(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS bank_account");
            statement.execute("DROP TABLE IF EXISTS bank_statement_line");
            statement.execute("CREATE TABLE bank_account (name varchar(20) PRIMARY KEY, cents bigint)");
            statement.execute("CREATE TABLE bank_statement_line (content varchar(200))");
            statement.execute("INSERT INTO bank_account VALUES ('ann', 10000), ('bob', 0)");
        }
    }

    /** False, and nothing changed, if the account holds too little. */
    boolean withdraw(Connection connection, String account, long cents) throws SQLException {
        return change(
                        connection,
                        "UPDATE bank_account SET cents = cents - ? WHERE name = ? AND cents >= ?",
                        cents,
                        account,
                        cents)
                == 1;
    }

    void deposit(Connection connection, String account, long cents) throws SQLException {
        change(connection, "UPDATE bank_account SET cents = cents + ? WHERE name = ?", cents, account);
    }

    void printOnStatement(Connection connection, String line) throws SQLException {
        change(connection, "INSERT INTO bank_statement_line VALUES (?)", line);
    }

    long number(Connection connection, String query) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static int change(Connection connection, String sql, Object... values)
            throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }
}
