package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.Attempt;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Deadlocks and serialization failures, provoked for real, and what ends the retries. */
class TransactionRetryTest extends TransactionGround {

    TransactionRetryTest() {
        super(TestDatabase::postgres);
    }

    @Test
    void a_swallowed_deadlock_is_no_success_without_retries_and_a_true_one_with_them()
            throws Exception {
        List<Attempt<Integer>> once = deadlock(RetryPolicy.none(), true);
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
    private List<Attempt<Integer>> deadlock(RetryPolicy retry, boolean swallow) throws Exception {
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
        var met = ConcurrentHashMap.newKeySet();

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

    private static String body(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT body FROM note WHERE id = 1")) {
            row.next();
            return row.getString(1);
        }
    }
}
