package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** Round trips and tuple versions, counted on the wire and in the table. */
class CommandTripsTest {

    private TestDatabase db;
    private FaultProxy proxy;
    private HikariDataSource pool;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('a', 0)");
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, 1);
        once = Bank.once(pool);
    }

    @AfterEach
    void close() throws Exception {
        pool.close();
        proxy.close();
        db.close();
    }

    private static RunOptions at(Isolation isolation) {
        return RunOptions.standard()
                .withTransaction(TransactionOptions.readCommitted().withIsolation(isolation));
    }

    private Outcome<String> run(String id, RunOptions options, int events) throws SQLException {
        return once.commands()
                .run(
                        Bank.command(id),
                        String.class,
                        options,
                        work -> {
                            Bank.deposit(work.connection(), "a", id);
                            for (int i = 0; i < events; i++) {
                                work.outbox().append(Bank.event(id + ":" + i));
                            }
                            return "x";
                        });
    }

    private int bareTrips() throws SQLException {
        proxy.resetCounters();
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            Bank.deposit(connection, "a", "bare");
            connection.commit();
        }
        return proxy.roundTrips();
    }

    @ParameterizedTest
    @EnumSource
    void a_fresh_command_costs_one_trip_more_than_the_bare_transaction(Isolation isolation)
            throws Exception {
        assertThat(bareTrips()).as("bare: update, insert, commit").isEqualTo(3);
        for (RunOptions options : List.of(at(isolation), at(isolation).withoutRejections())) {
            for (int events : new int[] {0, 1, 100}) {
                for (int warm = 0; warm < 7; warm++) { // before and after the driver prepares
                    proxy.resetCounters();
                    run(Bank.id("fresh"), options, events);
                    assertThat(proxy.flights()).hasSize(4);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_replay_costs_two_trips_and_one_if_it_was_likely(Isolation isolation) throws Exception {
        String id = Bank.id("replay");
        run(id, at(isolation), 0);

        proxy.resetCounters();
        assertThat(run(id, at(isolation), 0).replayed()).isTrue();
        assertThat(proxy.flights()).as("claim, rollback").hasSize(2);

        proxy.resetCounters();
        assertThat(
                        once.commands()
                                .run(
                                        Bank.command(id).likelyRetry(),
                                        String.class,
                                        at(isolation),
                                        work -> "x")
                                .replayed())
                .isTrue();
        assertThat(proxy.flights()).as("one read").hasSize(1);
    }

    @ParameterizedTest
    @EnumSource
    void a_duplicate_in_flight_costs_two_trips_and_waits_for_nobody(Isolation isolation)
            throws Exception {
        String id = Bank.id("in-flight");
        OnlyOnce elsewhere = Bank.once(db.pool(1));
        elsewhere
                .commands()
                .run(
                        Bank.command(id),
                        String.class,
                        work -> {
                            proxy.resetCounters();
                            assertThatThrownBy(
                                            () ->
                                                    run(
                                                            id,
                                                            at(isolation)
                                                                    .withInFlight(
                                                                            InFlightPolicy
                                                                                    .failFast()),
                                                            0))
                                    .isInstanceOf(CommandInFlightException.class);
                            assertThat(proxy.flights()).as("claim, rollback").hasSize(2);
                            return "x";
                        });
    }

    @Test
    void a_rejection_costs_no_trip_more_than_a_result() throws Exception {
        String id = Bank.id("rejected");
        proxy.resetCounters();
        assertThatThrownBy(
                        () ->
                                once.commands()
                                        .run(
                                                Bank.command(id),
                                                String.class,
                                                work -> {
                                                    Bank.deposit(work.connection(), "a", id);
                                                    throw new CommandRejectedException("NO", "");
                                                }))
                .isInstanceOf(CommandRejectedException.class);
        assertThat(proxy.flights()).hasSize(4);
    }

    @Test
    void the_low_road_costs_one_trip_to_claim_and_one_to_complete() throws Exception {
        String id = Bank.id("low");
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            proxy.resetCounters();
            var started = (Claim.Started) once.dedup().tryStart(connection, Bank.command(id));
            assertThat(proxy.flights()).hasSize(1);
            once.dedup().complete(connection, started, "x");
            assertThat(proxy.flights()).hasSize(2);
            connection.commit();
        }
    }

    @Test
    void at_read_committed_a_command_is_one_tuple_version() throws Exception {
        for (int i = 0; i < 25; i++) {
            run(Bank.id("versions"), at(Isolation.READ_COMMITTED), 1);
        }
        // Every line pointer of a page belongs to a living row: nothing was written twice.
        assertThat(
                        db.count(
                                "SELECT count(*) FROM (SELECT max((ctid::text::point)[1]) AS last,"
                                        + " count(*) AS alive FROM onlyonce.command_dedup GROUP BY"
                                        + " (ctid::text::point)[0]) p WHERE last <> alive"))
                .isZero();
        assertThat(db.count("SELECT count(*) FROM onlyonce.command_dedup")).isEqualTo(25);
    }

    @Test
    void above_read_committed_the_second_tuple_version_is_heap_only() throws Exception {
        for (int i = 0; i < 5; i++) {
            run(Bank.id("hot"), at(Isolation.SERIALIZABLE), 0);
        }
        pool.close(); // a backend reports its statistics when it ends
        String statistics =
                "SELECT %s FROM pg_stat_user_tables WHERE schemaname = 'onlyonce' AND relname ="
                        + " 'command_dedup'";
        Await.until(
                Duration.ofSeconds(30),
                () -> db.count(statistics.formatted("n_tup_upd")) == 5,
                "the statistics arrive");
        assertThat(db.count(statistics.formatted("n_tup_hot_upd"))).isEqualTo(5);
        assertThat(db.count(statistics.formatted("n_tup_ins"))).isEqualTo(5);
    }

    @Test
    void settings_of_the_claim_do_not_reach_the_work() throws Exception {
        for (Isolation isolation : Isolation.values()) {
            for (InFlightPolicy policy :
                    List.of(
                            InFlightPolicy.failFast(),
                            InFlightPolicy.blockUpTo(Duration.ofMillis(77)))) {
                var options =
                        RunOptions.standard()
                                .withInFlight(policy)
                                .withTransaction(
                                        TransactionOptions.readCommitted()
                                                .withIsolation(isolation)
                                                .withLockTimeout(Duration.ofMillis(1234)));
                var outcome =
                        once.commands()
                                .run(
                                        Bank.command(Bank.id("settings")),
                                        String.class,
                                        options,
                                        work -> setting(work.connection(), "lock_timeout"));
                assertThat(outcome.value()).isEqualTo("1234ms");
                assertThat(
                                once.commands()
                                        .run(
                                                Bank.command(Bank.id("settings")),
                                                String.class,
                                                at(isolation).withInFlight(policy),
                                                work ->
                                                        setting(
                                                                work.connection(),
                                                                "transaction_isolation"))
                                        .value())
                        .isEqualTo(isolation.name().toLowerCase().replace('_', ' '));
            }
        }
    }

    private static String setting(Connection connection, String name) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }
}
