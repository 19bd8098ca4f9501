package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

class HttpOnPostgresTest extends HttpContract {

    HttpOnPostgresTest() {
        super(TestDatabase::postgres);
    }

    /**
     * The handler heals its transaction and calls it a conflict; another attempt may not meet it.
     */
    @Test
    void a_no_that_follows_from_a_timeout_is_given_and_not_stored() throws Exception {
        HttpOperation hurried =
                OPEN.withTransaction(
                        TransactionOptions.readCommitted()
                                .withStatementTimeout(Duration.ofMillis(50)));
        StoredResponse no =
                http.handle(
                        hurried,
                        request(),
                        work -> {
                            write(work, 201);
                            try {
                                execute(work, "SELECT pg_sleep(30)");
                            } catch (SQLException e) {
                                assertThat(e.getSQLState()).isEqualTo("57014");
                            }
                            return StoredResponse.of(409).withJson("{\"busy\":true}");
                        });

        assertThat(no.status()).isEqualTo(409);
        assertThat(no.bodyText()).contains("busy");
        assertThat(rows() + effects()).isZero();
        assertThat(send(201).isReplayed()).isFalse();
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void a_serialization_failure_runs_the_handler_again() throws Exception {
        db.execute(
                """
                CREATE FUNCTION fail_with_40001() RETURNS int LANGUAGE plpgsql
                AS 'BEGIN RAISE SQLSTATE ''40001''; END'
                """);
        var attempts = new AtomicInteger();
        StoredResponse response =
                http.handle(
                        OPEN,
                        request(),
                        work -> {
                            if (attempts.incrementAndGet() < 3) {
                                execute(work, "SELECT fail_with_40001()");
                            }
                            return write(work, 201);
                        });

        assertThat(response.status()).isEqualTo(201);
        assertThat(attempts).hasValue(3);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void a_bug_in_the_sql_is_neither_stored_nor_retried() throws Exception {
        var attempts = new AtomicInteger();
        HttpIdempotency.Handler<RuntimeException> buggy =
                work -> {
                    attempts.incrementAndGet();
                    write(work, 201);
                    execute(work, "SELEC 1");
                    return StoredResponse.of(201);
                };
        assertThatThrownBy(() -> http.handle(OPEN, request(), buggy))
                .isInstanceOf(SQLException.class);
        StoredResponse hidden =
                http.handle(
                        OPEN,
                        request(),
                        work -> {
                            try {
                                return buggy.handle(work);
                            } catch (SQLException e) {
                                return StoredResponse.of(409);
                            }
                        });

        assertThat(hidden.status()).isEqualTo(409);
        assertThat(attempts).hasValue(2);
        assertThat(rows() + effects()).isZero();
    }
}
