package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;

/** What a proxy does as long as no fault strikes. */
class FaultProxyPassingTest extends DatabaseContract {

    private FaultProxy proxy;

    FaultProxyPassingTest() {
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
    void a_delay_holds_up_each_direction() throws Exception {
        try (var connection = db.through(proxy).getConnection()) {
            proxy.delay(Duration.ofMillis(50));
            long start = System.nanoTime();

            connection.createStatement().execute("SELECT 1");

            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isBetween(Duration.ofMillis(100), Duration.ofSeconds(5));
        }
    }

    @Test
    void round_trips_are_counted_with_their_statements() throws Exception {
        try (var connection = db.through(proxy).getConnection()) {
            connection.setAutoCommit(false);
            proxy.resetCounters();

            connection.createStatement().execute("INSERT INTO entry VALUES ('a')");
            connection.createStatement().execute("SELECT 1; SELECT 2");
            connection.commit();
        }
        assertThat(proxy.flights())
                .containsExactly(
                        List.of("BEGIN", "INSERT INTO entry VALUES ('a')"),
                        List.of("SELECT 1", "SELECT 2"),
                        List.of("COMMIT"));
        assertThat(proxy.roundTrips()).isEqualTo(3);
        assertThat(proxy.statements()).hasSize(5).endsWith("COMMIT");
    }

    @Test
    void large_messages_pass_unchanged_both_ways() throws Exception {
        byte[] sent = new byte[8 << 20];
        new Random(7).nextBytes(sent);
        try (var connection = db.through(proxy).getConnection();
                var echo = connection.prepareStatement("SELECT ?::bytea")) {
            echo.setBytes(1, sent);
            var rows = echo.executeQuery();
            rows.next();

            assertThat(rows.getBytes(1)).isEqualTo(sent);
        }
    }

    @Test
    void many_connections_pass_at_once() throws Exception {
        var pool = db.poolThrough(proxy, 20);

        Race.of(
                20,
                () -> {
                    try (var connection = pool.getConnection();
                            var insert =
                                    connection.prepareStatement("INSERT INTO entry VALUES (?)")) {
                        for (int i = 0; i < 20; i++) {
                            insert.setString(1, "row " + i);
                            insert.executeUpdate();
                        }
                        return null;
                    }
                });

        pool.close();
        assertThat(db.count("SELECT count(*) FROM entry")).isEqualTo(400);
    }

    @Test
    void a_statement_is_known_after_its_text_has_long_travelled() throws Exception {
        try (var connection = db.through(proxy).getConnection();
                var select = connection.prepareStatement("SELECT 7")) {
            for (int i = 0; i < 10; i++) {
                select.execute();
            }
            proxy.resetCounters();

            select.execute();
        }
        assertThat(proxy.statements()).containsExactly("SELECT 7");
    }

    @Test
    void a_cancelled_statement_is_cancelled_through_the_proxy() throws Exception {
        try (var connection = db.through(proxy).getConnection();
                var statement = connection.createStatement()) {
            statement.setQueryTimeout(1);

            assertThatThrownBy(() -> statement.execute("SELECT pg_sleep(60)"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getSQLState()).isEqualTo("57014"));
            assertThat(connection.isValid(5)).isTrue();
        }
    }
}
