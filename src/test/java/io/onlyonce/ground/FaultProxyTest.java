package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.Driver;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;

class FaultProxyTest extends DatabaseContract {

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private FaultProxy proxy;

    FaultProxyTest() {
        super(TestDatabase::postgres);
    }

    @BeforeEach
    void openProxy() throws Exception {
        proxy = FaultProxy.to(db.target());
        db.execute("DROP TABLE IF EXISTS entry; CREATE TABLE entry (name TEXT)");
    }

    @AfterEach
    void closeProxy() throws Exception {
        proxy.close();
    }

    @Test
    void a_cut_request_never_reaches_the_server() throws Exception {
        try (var connection = writing("lost")) {
            proxy.cutRequest("commit");

            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(SQLException.class, FaultProxyTest::isConnectionLoss);

            proxy.awaitFired();
        }
        awaitNoBackendInTransaction();
        assertThat(entries()).isZero();
    }

    @Test
    void a_cut_answer_leaves_the_commit_durable() throws Exception {
        try (var connection = writing("kept")) {
            proxy.cutAnswer("COMMIT");

            assertThatThrownBy(connection::commit)
                    .isInstanceOfSatisfying(SQLException.class, FaultProxyTest::isConnectionLoss);

            assertThat(entries()).isOne();
        }
    }

    @Test
    void a_silent_request_leaves_the_backend_in_its_transaction_until_released() throws Exception {
        try (var connection = writing("held")) {
            connection.setNetworkTimeout(Runnable::run, 300);
            proxy.silenceOn("COMMIT");

            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            proxy.awaitFired();
        }
        assertThat(backendsInTransaction()).isOne();
        assertThat(entries()).isZero();

        proxy.release();

        awaitNoBackendInTransaction();
        assertThat(entries()).isZero();
    }

    @Test
    void a_silent_request_delivered_late_still_commits() throws Exception {
        try (var connection = writing("late")) {
            connection.setNetworkTimeout(Runnable::run, 300);
            proxy.silenceOn("COMMIT");
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        assertThat(entries()).isZero();

        proxy.deliverLate();

        Await.until(DEADLINE, () -> entries() == 1, "the late commit arrived");
    }

    @Test
    void a_silent_answer_leaves_the_commit_durable_and_the_backend_connected() throws Exception {
        try (var connection = writing("kept")) {
            connection.setNetworkTimeout(Runnable::run, 300);
            proxy.silenceAnswerOn("COMMIT");

            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            proxy.awaitFired();
        }
        assertThat(entries()).isOne();
        assertThat(backends()).isOne();
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void faults_find_a_commit_that_the_server_knows_by_name_only(Fault fault) throws Exception {
        try (var connection = db.through(proxy).getConnection()) {
            connection.setAutoCommit(false);
            try (var commit = connection.prepareStatement("SELECT 1; COMMIT")) {
                for (int i = 0; i < 10; i++) {
                    commit.execute();
                }
                assertThat(namedStatements(connection))
                        .anyMatch(sql -> sql.strip().equals("COMMIT"));
                connection.createStatement().execute("INSERT INTO entry VALUES ('named')");
                connection.setNetworkTimeout(Runnable::run, 300);
                proxy.arm(fault, "COMMIT", 1);

                assertThatThrownBy(commit::execute).isInstanceOf(SQLException.class);
                proxy.awaitFired();
            }
        }
        assertThat(entries()).isEqualTo(fault.strikesAnswer() ? 1 : 0);
    }

    @Test
    void a_fault_strikes_once() throws Exception {
        proxy.cutAnswer("COMMIT");
        try (var first = writing("first")) {
            assertThatThrownBy(first::commit).isInstanceOf(SQLException.class);
        }

        try (var second = writing("second")) {
            second.commit();
        }

        assertThat(entries()).isEqualTo(2);
    }

    @Test
    void a_fault_strikes_as_often_as_it_is_armed_for() throws Exception {
        proxy.arm(Fault.CUT_REQUEST, "COMMIT", 2);
        for (int i = 0; i < 2; i++) {
            try (var connection = writing("lost")) {
                assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
            }
        }
        proxy.awaitFired();

        try (var third = writing("third")) {
            third.commit();
        }
    }

    @Test
    void a_keyword_is_a_whole_word() throws Exception {
        proxy.cutRequest("COMMIT");
        try (var connection = db.through(proxy).getConnection()) {
            connection.createStatement().execute("SELECT 1 AS commit_time");
        }
        assertThatThrownBy(() -> proxy.awaitFired(Duration.ofMillis(20)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("in vain until cut_request struck COMMIT");
    }

    @Test
    void a_reset_breaks_every_present_connection_and_no_later_one() throws Exception {
        try (var first = writing("lost");
                var second = db.through(proxy).getConnection()) {
            proxy.reset();

            assertThat(first.isValid(5)).isFalse();
            assertThat(second.isValid(5)).isFalse();
        }
        try (var later = db.through(proxy).getConnection()) {
            assertThat(later.isValid(5)).isTrue();
        }
    }

    @Test
    void passing_again_disarms_and_hurries() throws Exception {
        proxy.delay(Duration.ofHours(1));
        proxy.cutRequest("COMMIT");
        proxy.pass();

        try (var connection = writing("passed")) {
            connection.commit();
        }
        assertThat(entries()).isOne();
    }

    @ParameterizedTest
    @ValueSource(strings = {"simple", "extended"})
    void both_query_protocols_are_understood(String mode) throws Exception {
        var properties = new Properties();
        properties.setProperty("user", db.user());
        properties.setProperty("password", db.password());
        properties.setProperty("preferQueryMode", mode);
        try (var connection = new Driver().connect(db.urlThrough(proxy), properties)) {
            proxy.cutAnswer("INSERT INTO entry");

            assertThatThrownBy(
                            () ->
                                    connection
                                            .createStatement()
                                            .execute("INSERT INTO entry VALUES ('x')"))
                    .isInstanceOf(SQLException.class);
        }
        assertThat(entries()).isOne();
    }

    /** A connection through the proxy with one entry written and not yet committed. */
    private Connection writing(String name) throws SQLException {
        var connection = db.through(proxy).getConnection();
        connection.setAutoCommit(false);
        connection.createStatement().execute("INSERT INTO entry VALUES ('" + name + "')");
        return connection;
    }

    private static void isConnectionLoss(SQLException e) {
        assertThat(e.getSQLState()).startsWith("08");
    }

    private static List<String> namedStatements(Connection connection) throws SQLException {
        try (var rows =
                connection
                        .createStatement()
                        .executeQuery("SELECT array_agg(statement) FROM pg_prepared_statements")) {
            rows.next();
            return List.of((String[]) rows.getArray(1).getArray());
        }
    }

    private long entries() throws SQLException {
        return db.count("SELECT count(*) FROM entry");
    }

    private long backends() throws SQLException {
        return db.count(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND backend_type = 'client backend' AND pid <> pg_backend_pid()");
    }

    private long backendsInTransaction() throws SQLException {
        return db.count(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND state LIKE 'idle in transaction%'");
    }

    private void awaitNoBackendInTransaction() throws Exception {
        Await.until(DEADLINE, () -> backendsInTransaction() == 0, "the old backend was gone");
    }
}
