package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.Levels;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Consumer;

class TransactionOnPostgresTest extends TransactionContract {

    TransactionOnPostgresTest() {
        super(TestDatabase::postgres);
    }

    @Override
    String timeouts() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return show(connection, "lock_timeout") + "/" + show(connection, "statement_timeout");
        }
    }

    static String show(Connection connection, String setting) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SHOW " + setting)) {
            row.next();
            return row.getString(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_stated_isolation_level_holds_whatever_pool_and_server_default_to(Isolation isolation)
            throws Exception {
        db.execute(
                "ALTER DATABASE "
                        + database()
                        + " SET default_transaction_isolation = 'repeatable read'");
        try (HikariDataSource odd =
                pool(config -> config.setTransactionIsolation("TRANSACTION_SERIALIZABLE"))) {
            var template = new TransactionTemplate(odd);

            String level =
                    template.execute(
                            TransactionOptions.readCommitted().withIsolation(isolation),
                            connection -> show(connection, "transaction_isolation"));

            assertThat(level).isEqualToIgnoringCase(Levels.sql(isolation));
            try (Connection next = odd.getConnection()) {
                assertThat(next.getTransactionIsolation())
                        .isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
            }
        } finally {
            db.execute("ALTER DATABASE " + database() + " RESET default_transaction_isolation");
        }
    }

    @Test
    void a_transaction_costs_one_trip_to_open_and_one_to_commit() throws Exception {
        try (var proxy = FaultProxy.to(db.target());
                var through = db.poolThrough(proxy, 1)) {
            var template = new TransactionTemplate(through);
            var options =
                    TransactionOptions.serializable()
                            .withDeadline(Duration.ofSeconds(9))
                            .withLockTimeout(Duration.ofSeconds(1));
            template.execute(options, connection -> insert(connection, 1));
            proxy.resetCounters();

            template.execute(options, connection -> insert(connection, 2));

            assertThat(proxy.flights()).as("open, work, commit").hasSize(3);
            assertThat(proxy.flights().get(0).get(0)).isEqualToIgnoringCase("BEGIN");
            assertThat(proxy.flights().get(2).get(1)).isEqualToIgnoringCase("COMMIT");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "INSERT INTO note VALUES (1, 'again')",
                "SELECT 'x'::int",
                "SELECT pg_sleep(9)"
            })
    void a_swallowed_error_is_never_a_success(String failing) throws Exception {
        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        TransactionOptions.readCommitted()
                                                .withStatementTimeout(Duration.ofMillis(100)),
                                        connection -> {
                                            insert(connection, 1);
                                            swallow(connection, failing);
                                            return "done";
                                        }))
                .isInstanceOf(SwallowedSqlErrorException.class)
                .cause()
                .isInstanceOf(SQLException.class)
                .satisfies(
                        e ->
                                assertThat(((SQLException) e).getSQLState())
                                        .isIn("23505", "22P02", "57014"));
        assertThat(notes()).isZero();
    }

    @Test
    void a_transaction_ended_by_sql_text_is_no_success() throws Exception {
        for (String end : new String[] {"ROLLBACK", "COMMIT"}) {
            assertThatThrownBy(
                            () ->
                                    tx.execute(
                                            connection -> {
                                                insert(connection, 1);
                                                try (var statement = connection.createStatement()) {
                                                    statement.execute(end);
                                                }
                                                return insert(connection, 2);
                                            }))
                    .as(end)
                    .isInstanceOf(TransactionEndedByWorkException.class);
        }
        assertThat(db.count("SELECT COUNT(*) FROM note WHERE id = 2")).isZero();
    }

    @Test
    void an_error_undone_by_the_works_own_savepoint_is_not_swallowed() throws Exception {
        tx.execute(
                connection -> {
                    insert(connection, 1);
                    var savepoint = connection.setSavepoint();
                    swallow(connection, "INSERT INTO note VALUES (1, 'again')");
                    connection.rollback(savepoint);
                    return insert(connection, 2);
                });

        assertThat(notes()).isEqualTo(2);
    }

    @Test
    void a_terminated_backend_is_a_plain_failure_with_the_first_error_kept() throws Exception {
        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            insert(connection, 1);
                                            db.execute(
                                                    "SELECT pg_terminate_backend("
                                                            + pid(connection)
                                                            + ")");
                                            return insert(connection, 2);
                                        }))
                .isInstanceOf(SQLException.class)
                .satisfies(
                        e -> {
                            assertThat(((SQLException) e).getSQLState()).isIn("57P01", "08006");
                            assertThat(e.getSuppressed())
                                    .as("the rollback failed too")
                                    .isNotEmpty();
                        });
        assertThat(notes()).isZero();
    }

    private static String pid(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT pg_backend_pid()")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void a_deferred_constraint_that_fails_at_commit_is_a_certain_failure() throws Exception {
        db.execute(
                "CREATE TABLE child (id INT, note INT REFERENCES note DEFERRABLE INITIALLY"
                        + " DEFERRED)");

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            swallow(connection, "INSERT INTO child VALUES (1, 99)");
                                            return 1;
                                        }))
                .isInstanceOf(SQLException.class)
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("23503"));
        assertThat(db.count("SELECT COUNT(*) FROM child")).isZero();
        db.execute("DROP TABLE child");
    }

    @Test
    void the_deadline_cancels_a_running_statement() {
        long start = System.nanoTime();

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        TransactionOptions.readCommitted()
                                                .withDeadline(Duration.ofMillis(500)),
                                        connection -> {
                                            try (var statement = connection.createStatement()) {
                                                return statement.execute("SELECT pg_sleep(60)");
                                            }
                                        }))
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("57014"));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }

    @Test
    void a_dead_network_is_noticed_by_the_deadline() throws Exception {
        try (var proxy = FaultProxy.to(db.target())) {
            var template = new TransactionTemplate(db.through(proxy));
            proxy.silenceOn("INSERT INTO note");

            assertThatThrownBy(
                            () ->
                                    template.execute(
                                            TransactionOptions.readCommitted()
                                                    .withDeadline(Duration.ofMillis(500)),
                                            connection -> insert(connection, 1)))
                    .isInstanceOf(SQLException.class)
                    .satisfies(e -> assertThat(((SQLException) e).getSQLState()).startsWith("08"));
            proxy.release();
        }
        Await.until(Duration.ofSeconds(10), () -> notes() == 0, "nothing written");
    }

    private static void swallow(Connection connection, String sql) {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            // on purpose
        }
    }

    private String database() throws SQLException {
        return db.value("SELECT current_database()", String.class).orElseThrow();
    }

    private HikariDataSource pool(Consumer<HikariConfig> settings) {
        return db.pool(1, settings);
    }
}
