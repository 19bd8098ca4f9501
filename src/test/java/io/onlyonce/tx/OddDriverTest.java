package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Drivers and pools that fail where nobody expects it change neither the outcome nor its report.
 */
class OddDriverTest extends DatabaseContract {

    OddDriverTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void create() throws Exception {
        db.execute("CREATE TABLE note (id int)");
    }

    @BeforeEach
    void empty() throws Exception {
        db.execute("DELETE FROM note");
    }

    private static int insert(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate("INSERT INTO note VALUES (1)");
        }
    }

    private TransactionTemplate with(Map<String, Callable<Object>> methods) {
        return new TransactionTemplate(Overridden.of(db.dataSource(), methods));
    }

    private static Callable<Object> throwing(Throwable failure) {
        return () -> {
            if (failure instanceof Error e) {
                throw e;
            }
            throw (Exception) failure;
        };
    }

    @Test
    void nothing_that_fails_after_commit_is_a_failure_or_runs_the_work_again() throws Exception {
        for (Throwable failure :
                List.of(
                        new IllegalStateException(new SQLException("x", "40001")),
                        new SQLException("x", "40001"),
                        new AbstractMethodError("old driver"))) {
            db.execute("DELETE FROM note");
            var runs = new AtomicInteger();

            int value =
                    with(Map.of("close", throwing(failure), "abort", throwing(failure)))
                            .execute(
                                    connection -> {
                                        runs.incrementAndGet();
                                        return insert(connection);
                                    });

            assertThat(value).isEqualTo(1);
            assertThat(runs).hasValue(1);
            assertThat(db.count("SELECT count(*) FROM note")).isEqualTo(1);
        }
    }

    @Test
    void a_connection_is_closed_even_if_its_rollback_throws_anything() {
        var closed = new AtomicBoolean();
        var first = new IOException("first");
        Callable<Object> close =
                () -> {
                    closed.set(true);
                    return null;
                };

        assertThatThrownBy(
                        () ->
                                with(Map.of(
                                                "rollback",
                                                throwing(new IllegalStateException("x")),
                                                "close",
                                                close))
                                        .execute(
                                                connection -> {
                                                    throw first;
                                                }))
                .isSameAs(first);
        assertThat(closed).isTrue();
        assertThat(first.getSuppressed()).hasAtLeastOneElementOfType(IllegalStateException.class);
    }

    @Test
    void one_exception_thrown_again_and_again_is_reported_once() {
        var same = new SQLException("same", "08006");
        var methods =
                Map.of(
                        "rollback",
                        throwing(same),
                        "abort",
                        throwing(same),
                        "close",
                        throwing(same));

        assertThatThrownBy(
                        () ->
                                with(methods)
                                        .execute(
                                                connection -> {
                                                    throw same;
                                                }))
                .isSameAs(same);
    }

    @Test
    void drivers_without_a_network_timeout_work() throws Exception {
        for (Throwable unsupported :
                List.of(
                        new SQLFeatureNotSupportedException("no", "0A000"),
                        new AbstractMethodError("no"))) {
            with(Map.of("setNetworkTimeout", throwing(unsupported))).execute(OddDriverTest::insert);
            with(Map.of(
                            "setNetworkTimeout",
                            throwing(unsupported),
                            "getNetworkTimeout",
                            throwing(unsupported)))
                    .execute(OddDriverTest::insert);
        }
        assertThat(db.count("SELECT count(*) FROM note")).isEqualTo(4);
    }

    @Test
    void no_search_path_can_put_another_clock_into_the_fence() throws Exception {
        db.execute(
                "CREATE SCHEMA frozen; CREATE FUNCTION frozen.now() RETURNS timestamptz LANGUAGE"
                        + " sql STABLE AS $$ SELECT '2020-01-01'::timestamptz $$");
        var pool =
                db.pool(
                        1,
                        c ->
                                c.setConnectionInitSql(
                                        "SET search_path = frozen, pg_catalog, public"));

        assertThatThrownBy(
                        () ->
                                new TransactionTemplate(pool)
                                        .execute(
                                                connection -> {
                                                    insert(connection);
                                                    execute(connection, "ROLLBACK");
                                                    return insert(connection);
                                                }))
                .isInstanceOf(TransactionEndedByWorkException.class);
        assertThat(db.count("SELECT count(*) FROM note")).isZero();
    }

    @Test
    void a_work_that_said_commit_is_not_run_again() throws Exception {
        var runs = new AtomicInteger();

        assertThatThrownBy(
                        () ->
                                new TransactionTemplate(db.pool(1))
                                        .execute(
                                                connection -> {
                                                    runs.incrementAndGet();
                                                    insert(connection);
                                                    execute(connection, "SELECT 1; commit work");
                                                    execute(
                                                            connection,
                                                            "DO $$ BEGIN RAISE EXCEPTION USING"
                                                                    + " ERRCODE = '40001'; END $$");
                                                    return 1;
                                                }))
                .isInstanceOf(TransactionEndedByWorkException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1));
        assertThat(runs).hasValue(1);
        assertThat(db.count("SELECT count(*) FROM note")).isEqualTo(1);
    }

    @Test
    void undoing_to_a_savepoint_in_sql_text_is_no_end() throws Exception {
        var runs = new AtomicInteger();

        new TransactionTemplate(db.pool(1))
                .execute(
                        connection -> {
                            execute(connection, "SAVEPOINT s");
                            execute(connection, "ROLLBACK WORK TO SAVEPOINT s");
                            if (runs.incrementAndGet() == 1) {
                                throw new SQLException("provoked", "40001");
                            }
                            return insert(connection);
                        });

        assertThat(runs).hasValue(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"array", "refcursor"})
    void values_do_not_lead_around_the_guard(String kind) throws Exception {
        db.execute(
                "CREATE OR REPLACE FUNCTION cur() RETURNS refcursor LANGUAGE plpgsql AS $$ DECLARE"
                        + " r refcursor := 'rc'; BEGIN OPEN r FOR SELECT 1; RETURN r; END $$");
        new TransactionTemplate(db.pool(1))
                .execute(
                        connection -> {
                            try (var statement = connection.createStatement();
                                    var row =
                                            statement.executeQuery(
                                                    kind.equals("array")
                                                            ? "SELECT ARRAY[1, 2]"
                                                            : "SELECT cur()")) {
                                row.next();
                                var rows =
                                        kind.equals("array")
                                                ? row.getArray(1).getResultSet()
                                                : (java.sql.ResultSet) row.getObject(1);
                                assertThat(rows.getStatement().getConnection())
                                        .isSameAs(connection);
                            }
                            try (var insert =
                                    connection.prepareStatement(
                                            "INSERT INTO note SELECT unnest(?::int[])")) {
                                var array = connection.createArrayOf("int4", new Object[] {1, 2});
                                insert.setArray(1, array);
                                insert.executeUpdate();
                            }
                            return 1;
                        });
        assertThat(db.count("SELECT count(*) FROM note")).isEqualTo(2);
    }

    @Test
    void no_statement_begins_after_the_deadline() {
        var executed = new AtomicInteger();
        assertThatThrownBy(
                        () ->
                                new TransactionTemplate(db.pool(1))
                                        .execute(
                                                TransactionOptions.readCommitted()
                                                        .withDeadline(Duration.ofSeconds(1)),
                                                connection -> {
                                                    for (int i = 0; i < 6; i++) {
                                                        execute(connection, "SELECT pg_sleep(0.6)");
                                                        executed.incrementAndGet();
                                                    }
                                                    return 1;
                                                }))
                .isInstanceOf(DeadlineExceededException.class);
        assertThat(executed).hasValueLessThan(3);
    }

    @Test
    void a_rollback_on_a_dead_network_is_bounded() throws Exception {
        try (var proxy = FaultProxy.to(db.target());
                var through = db.poolThrough(proxy, 1)) {
            proxy.silenceOn("ROLLBACK");
            assertThatThrownBy(
                            () ->
                                    new TransactionTemplate(through)
                                            .execute(
                                                    TransactionOptions.readCommitted()
                                                            .withCommitTimeout(
                                                                    Duration.ofMillis(200)),
                                                    connection -> {
                                                        throw new IOException("first");
                                                    }))
                    .isInstanceOf(IOException.class);
            proxy.awaitFired();
            proxy.release();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
