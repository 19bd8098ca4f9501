package io.onlyonce.demo;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.TransactionControlException;
import io.onlyonce.tx.TransactionTemplate;

import org.h2.jdbcx.JdbcDataSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;

/**
 * A bank of two accounts on an embedded database: transactions whose work goes wrong, and commands.
 * Every line is proved from the database; the exit code is 0 only if all of them held. With the
 * argument {@code serve} it is an HTTP server instead.
 */
public final class Demo {

    private final JdbcDataSource dataSource = new JdbcDataSource();
    private final TransactionTemplate tx = new TransactionTemplate(dataSource);
    private int broken;

    private Demo() {
        dataSource.setURL("jdbc:h2:mem:demo;DB_CLOSE_DELAY=-1");
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("serve")) {
            Serve.main(Arrays.copyOfRange(args, 1, args.length));
            return;
        }
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
        commands();
    }

    /** Commands: a double click, a retry with another amount, a rejection. */
    private void commands() throws SQLException {
        var once = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
        var scope = new CommandScope("demo", "app", "account.transfer");
        var command = Command.of(scope, "click-1", PayloadHash.ofJson("{\"cents\":10}"));
        for (int click = 1; click <= 2; click++) {
            var outcome =
                    once.commands().run(command, Integer.class, w -> transfer(w.connection(), 10));
            claim(
                    click == 1 ? "a command moves the money" : "a double click moves it once",
                    outcome.replayed() == (click == 2) && cents("ann") == 60);
        }
        var other = Command.of(scope, "click-1", PayloadHash.ofJson("{\"cents\":99}"));
        try {
            once.commands().run(other, Integer.class, w -> transfer(w.connection(), 99));
            claim("the same id with another amount is refused", false);
        } catch (PayloadMismatchException refused) {
            claim("the same id with another amount is refused", cents("ann") == 60);
        }
        var closed = Command.of(scope, "click-2", PayloadHash.ofJson("{}"));
        for (boolean replayed : new boolean[] {false, true}) {
            try {
                once.commands()
                        .run(
                                closed,
                                Integer.class,
                                w -> {
                                    transfer(w.connection(), 1);
                                    throw new CommandRejectedException("CLOSED", "account closed");
                                });
                claim("a closed account says no", false);
            } catch (CommandRejectedException no) {
                claim(
                        replayed ? "and says so again" : "a \"no\" leaves nothing but itself",
                        no.replayed() == replayed && cents("ann") == 60);
            }
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
