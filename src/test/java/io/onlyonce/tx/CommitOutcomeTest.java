package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Fault;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

import java.sql.Connection;
import java.time.Duration;
import java.util.HashSet;
import java.util.concurrent.atomic.AtomicInteger;

/** What is said, and left behind, when the answer to COMMIT does not arrive. */
class CommitOutcomeTest extends DatabaseContract {

    private static final int RUNS = 200;

    private FaultProxy proxy;
    private HikariDataSource pool;
    private TransactionTemplate tx;

    CommitOutcomeTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void createTable() throws Exception {
        db.execute("CREATE TABLE note (id INT PRIMARY KEY, body TEXT)");
    }

    @BeforeEach
    void openProxy() throws Exception {
        db.execute("DELETE FROM note");
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, 2);
        tx = new TransactionTemplate(pool);
    }

    @AfterEach
    void closeProxy() throws Exception {
        pool.close();
        proxy.close();
    }

    @Test
    @Tag("repeated")
    void a_lost_request_is_unknown_and_not_durable() throws Exception {
        for (int run = 0; run < RUNS; run++) {
            proxy.cutRequest("COMMIT");
            assertUnknown(run);
        }
        assertThat(db.count("SELECT COUNT(*) FROM note")).isZero();
    }

    @Test
    @Tag("repeated")
    void a_lost_answer_is_unknown_and_durable() throws Exception {
        for (int run = 0; run < RUNS; run++) {
            proxy.cutAnswer("COMMIT");
            assertUnknown(run);
        }
        assertThat(db.count("SELECT COUNT(*) FROM note")).isEqualTo(RUNS);
    }

    @Test
    void a_connection_of_unknown_outcome_is_never_lent_again() throws Exception {
        var lent = new HashSet<Integer>();
        for (int run = 0; run < 10; run++) {
            proxy.cutAnswer("COMMIT");
            int id = run;
            assertThatThrownBy(
                            () ->
                                    tx.execute(
                                            connection -> {
                                                int pid =
                                                        connection
                                                                .unwrap(PGConnection.class)
                                                                .getBackendPID();
                                                assertThat(lent.add(pid))
                                                        .as("a fresh backend")
                                                        .isTrue();
                                                return TransactionGround.insert(connection, id);
                                            }))
                    .isInstanceOf(CommitOutcomeUnknownException.class);
        }
        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        try (Connection next = pool.getConnection()) {
            assertThat(next.isValid(5)).isTrue();
        }
    }

    @Test
    void a_commit_that_hangs_is_unknown_after_its_timeout() throws Exception {
        proxy.silenceAnswerOn("COMMIT");

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        TransactionOptions.readCommitted()
                                                .withCommitTimeout(Duration.ofMillis(300)),
                                        connection -> TransactionGround.insert(connection, 1)))
                .isInstanceOf(CommitOutcomeUnknownException.class);

        Await.until(
                Duration.ofSeconds(10),
                () -> db.count("SELECT COUNT(*) FROM note") == 1,
                "the commit was durable");
        proxy.release();
    }

    @Test
    void an_unknown_outcome_is_not_retried() throws Exception {
        var runs = new AtomicInteger();
        proxy.arm(Fault.CUT_REQUEST, "COMMIT", 1);

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        TransactionOptions.serializable(),
                                        connection -> runs.incrementAndGet()))
                .isInstanceOf(CommitOutcomeUnknownException.class);
        assertThat(runs).hasValue(1);
    }

    @Test
    void a_backend_terminated_while_idle_before_commit_is_unknown_or_a_failure_but_never_a_success()
            throws Exception {
        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            TransactionGround.insert(connection, 1);
                                            int pid =
                                                    connection
                                                            .unwrap(PGConnection.class)
                                                            .getBackendPID();
                                            db.execute("SELECT pg_terminate_backend(" + pid + ")");
                                            Await.until(
                                                    Duration.ofSeconds(10),
                                                    () ->
                                                            db.count(
                                                                            "SELECT COUNT(*) FROM"
                                                                                + " pg_stat_activity"
                                                                                + " WHERE pid = "
                                                                                    + pid)
                                                                    == 0,
                                                    "the backend is gone");
                                            return 1;
                                        }))
                .isInstanceOf(CommitOutcomeUnknownException.class);
        assertThat(db.count("SELECT COUNT(*) FROM note")).isZero();
    }

    private void assertUnknown(int id) throws Exception {
        assertThatThrownBy(() -> tx.execute(connection -> TransactionGround.insert(connection, id)))
                .isInstanceOf(CommitOutcomeUnknownException.class)
                .hasMessageContaining("unknown");
        proxy.awaitFired();
    }
}
