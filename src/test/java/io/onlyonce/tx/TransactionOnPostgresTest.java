package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

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

            assertThat(level).isEqualToIgnoringCase(isolation.sql());
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
    void a_swallowed_deadlock_is_no_success_without_retries_and_a_true_one_with_them()
            throws Exception {
        List<io.onlyonce.ground.Attempt<Integer>> once = deadlock(RetryPolicy.none(), true);
        assertThat(once).filteredOn(attempt -> !attempt.succeeded()).hasSize(1);
        assertThat(once.stream().flatMap(a -> a.failure().stream()))
                .singleElement()
                .isInstanceOf(SwallowedSqlErrorException.class);

        db.execute("DELETE FROM note");
        assertThat(deadlock(RetryPolicy.standard(), true)).allMatch(attempt -> attempt.succeeded());
        assertThat(db.count("SELECT COUNT(*) FROM note WHERE body = 'zz'"))
                .as("both updated both")
                .isEqualTo(2);
    }

    @Test
    void deadlocks_are_retried_within_the_attempts() throws Exception {
        assertThat(deadlock(RetryPolicy.standard(), false))
                .allMatch(attempt -> attempt.succeeded());

        db.execute("DELETE FROM note");
        assertThat(deadlock(RetryPolicy.none(), false).stream().flatMap(a -> a.failure().stream()))
                .singleElement()
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("40P01"));
    }

    /**
     * Two transactions update rows 1 and 2 in opposite orders, meeting in between at their first
     * attempt.
     */
    private List<io.onlyonce.ground.Attempt<Integer>> deadlock(RetryPolicy retry, boolean swallow)
            throws Exception {
        db.execute("INSERT INTO note VALUES (1, ''), (2, '')");
        var template =
                new TransactionTemplate(
                        db.dataSource(), TransactionOptions.readCommitted().withRetry(retry));
        var meeting = new CyclicBarrier(2);
        var calls = new ArrayList<Callable<Integer>>();
        for (int first = 1; first <= 2; first++) {
            int mine = first;
            var runs = new AtomicInteger();
            calls.add(
                    () ->
                            template.execute(
                                    connection -> {
                                        append(connection, mine);
                                        if (runs.getAndIncrement() == 0) {
                                            meeting.await(20, TimeUnit.SECONDS);
                                        }
                                        try {
                                            return append(connection, 3 - mine);
                                        } catch (SQLException e) {
                                            if (swallow) {
                                                return 0;
                                            }
                                            throw e;
                                        }
                                    }));
        }
        return Race.attempts(calls);
    }

    private static int append(Connection connection, int id) throws SQLException {
        try (var statement =
                connection.prepareStatement("UPDATE note SET body = body || 'z' WHERE id = ?")) {
            statement.setInt(1, id);
            return statement.executeUpdate();
        }
    }

    @Test
    void serialization_failures_are_retried_and_nothing_is_lost() throws Exception {
        db.execute("INSERT INTO note VALUES (1, '')");
        var template =
                new TransactionTemplate(
                        db.pool(4),
                        TransactionOptions.serializable()
                                .withRetry(RetryPolicy.standard().withAttempts(1000)));
        var runs = new AtomicInteger();
        var meeting = new CyclicBarrier(4);
        var met = java.util.concurrent.ConcurrentHashMap.newKeySet();

        Race.of(
                4,
                () ->
                        template.execute(
                                connection -> {
                                    runs.incrementAndGet();
                                    String body = body(connection);
                                    // All four read the same version.
                                    if (met.add(Thread.currentThread())) {
                                        meeting.await(20, TimeUnit.SECONDS);
                                    }
                                    try (var statement =
                                            connection.prepareStatement(
                                                    "UPDATE note SET body = ? WHERE id = 1")) {
                                        statement.setString(1, body + "+");
                                        return statement.executeUpdate();
                                    }
                                }));

        assertThat(db.value("SELECT body FROM note WHERE id = 1", String.class)).contains("++++");
        assertThat(runs.get()).as("at least three lost the first round").isGreaterThanOrEqualTo(7);
    }

    private static String body(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT body FROM note WHERE id = 1")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void retries_end_with_the_attempts_and_the_last_failure_carries_the_others() {
        var runs = new AtomicInteger();

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            throw new SQLException(
                                                    "attempt " + runs.incrementAndGet(), "40001");
                                        }))
                .hasMessage("attempt 5")
                .satisfies(
                        e ->
                                assertThat(e.getSuppressed())
                                        .extracting(Throwable::getMessage)
                                        .containsExactly(
                                                "attempt 1",
                                                "attempt 2",
                                                "attempt 3",
                                                "attempt 4"));
    }

    @Test
    void retries_find_the_state_beneath_other_exceptions_and_only_those_two_states() {
        var runs = new AtomicInteger();

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            var wrapped = new SQLException("in a batch");
                                            wrapped.setNextException(
                                                    new SQLException("deadlock", "40P01"));
                                            throw new IllegalStateException(
                                                    "run " + runs.incrementAndGet(), wrapped);
                                        }))
                .hasMessage("run 5");
        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            throw new SQLException(
                                                    "run " + runs.incrementAndGet(), "55P03");
                                        }))
                .hasMessage("run 6");
    }

    @Test
    void retries_end_with_the_deadline() {
        var patient = new RetryPolicy(1_000_000, Duration.ofMillis(20), Duration.ofMillis(20));
        var runs = new AtomicInteger();
        long start = System.nanoTime();

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        TransactionOptions.readCommitted()
                                                .withRetry(patient)
                                                .withDeadline(Duration.ofMillis(300)),
                                        connection -> {
                                            runs.incrementAndGet();
                                            throw new SQLException("again", "40001");
                                        }))
                .isInstanceOfAny(SQLException.class, DeadlineExceededException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
        assertThat(runs.get()).isGreaterThan(1);
    }

    @Test
    void an_interrupt_ends_the_retries_and_stays_set() {
        var runs = new AtomicInteger();
        try {
            assertThatThrownBy(
                            () ->
                                    tx.execute(
                                            connection -> {
                                                runs.incrementAndGet();
                                                Thread.currentThread().interrupt();
                                                throw new SQLException("lost", "40001");
                                            }))
                    .hasMessage("lost");
            assertThat(Thread.interrupted()).as("still set").isTrue();
            assertThat(runs).hasValue(1);
        } finally {
            Thread.interrupted();
        }
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

    private HikariDataSource pool(
            java.util.function.Consumer<com.zaxxer.hikari.HikariConfig> settings) {
        return db.pool(1, settings);
    }
}
