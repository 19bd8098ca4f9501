package io.onlyonce.demo.story;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

/**
 * Ann's and Bob's bank: plain SQL on a connection that is given. There are two of them in one
 * schema, told apart by the first word of their tables: one for ordinary code, one for OnlyOnce.
 */
final class Bank {

    /** What Ann has in the beginning. */
    static final long START = 1_000_00;

    /**
     * A transfer asks somebody else first; long enough for a second request to arrive meanwhile.
     */
    private static final Duration FRAUD_CHECK = Duration.ofMillis(60);

    private static final String TABLES =
            """
            CREATE TABLE #account (name varchar(10) PRIMARY KEY, cents bigint NOT NULL);
            CREATE TABLE #transfer (
                receipt bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                command_id varchar(40) NOT NULL, cents bigint NOT NULL
            );
            CREATE TABLE #seen (command_id varchar(40) NOT NULL, receipt varchar(40) NOT NULL);
            CREATE TABLE #topic (
                position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                event_id varchar(60) NOT NULL, content varchar(40) NOT NULL
            );
            CREATE TABLE #mail (event_id varchar(60) NOT NULL);
            INSERT INTO #account (name, cents) VALUES ('ann', %d), ('bob', 0);
            """
                    .formatted(START);

    private final String schema;
    private final String name;

    Bank(String schema, String name) {
        this.schema = schema;
        this.name = name;
    }

    String schema() {
        return schema;
    }

    String name() {
        return name;
    }

    void create(DataSource dataSource) throws SQLException {
        try (var connection = dataSource.getConnection();
                var statement = connection.createStatement()) {
            statement.execute(own(TABLES));
        }
    }

    /** Moves the money inside the caller's transaction and returns the receipt's number. */
    String move(Connection connection, Order order) throws SQLException {
        LockSupport.parkNanos(FRAUD_CHECK.toNanos());
        long funds = number(connection, "SELECT cents FROM #account WHERE name = 'ann' FOR UPDATE");
        if (funds < order.cents()) {
            throw new NotEnoughMoneyException();
        }
        add(connection, "ann", -order.cents());
        add(connection, "bob", order.cents());
        String insert = own("INSERT INTO #transfer (command_id, cents) VALUES (?, ?)");
        try (var statement = connection.prepareStatement(insert, new String[] {"receipt"})) {
            statement.setString(1, order.id());
            statement.setLong(2, order.cents());
            statement.executeUpdate();
            try (var keys = statement.getGeneratedKeys()) {
                keys.next();
                return "R-" + keys.getLong(1);
            }
        }
    }

    void add(Connection connection, String account, long cents) throws SQLException {
        update(connection, "UPDATE #account SET cents = cents + ? WHERE name = ?", cents, account);
    }

    Optional<String> seen(Connection connection, String commandId) throws SQLException {
        try (var statement =
                        prepare(
                                connection,
                                "SELECT receipt FROM #seen WHERE command_id = ?",
                                commandId);
                var row = statement.executeQuery()) {
            return row.next() ? Optional.of(row.getString("receipt")) : Optional.empty();
        }
    }

    void remember(Connection connection, String commandId, String receipt) throws SQLException {
        update(
                connection,
                "INSERT INTO #seen (command_id, receipt) VALUES (?, ?)",
                commandId,
                receipt);
    }

    /** The topic stands for a broker: what is in it will be delivered. */
    void tell(Connection connection, Teller.Event event) throws SQLException {
        update(
                connection,
                "INSERT INTO #topic (event_id, content) VALUES (?, ?)",
                event.id(),
                event.text());
    }

    List<Teller.Event> told(Connection connection) throws SQLException {
        List<Teller.Event> events = new ArrayList<>();
        try (var statement =
                        prepare(
                                connection,
                                "SELECT event_id, content FROM #topic ORDER BY position");
                var rows = statement.executeQuery()) {
            while (rows.next()) {
                events.add(new Teller.Event(rows.getString("event_id"), rows.getString("content")));
            }
        }
        return events;
    }

    void mail(Connection connection, Teller.Event event) throws SQLException {
        update(connection, "INSERT INTO #mail (event_id) VALUES (?)", event.id());
    }

    /** The first number that a query finds; {@code #} stands for this bank's tables. */
    long number(Connection connection, String query, Object... values) throws SQLException {
        try (var statement = prepare(connection, query, values);
                var row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    private void update(Connection connection, String sql, Object... values) throws SQLException {
        try (var statement = prepare(connection, sql, values)) {
            statement.executeUpdate();
        }
    }

    private PreparedStatement prepare(Connection connection, String sql, Object... values)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(own(sql));
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private String own(String sql) {
        return sql.replace("#", schema + "." + name + "_");
    }
}
