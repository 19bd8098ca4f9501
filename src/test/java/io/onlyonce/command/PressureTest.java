package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/** What many repetitions of one command in flight take from everybody else: counted, not timed. */
class PressureTest extends DatabaseContract {

    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final int POOL = 10;
    private static final int REPEATERS = 32;
    private static final int TIMES = 10;

    private FaultProxy proxy;
    private HikariDataSource pool;
    private CommandRunner commands;

    PressureTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('a', 0), ('b', 0), ('c', 0), ('d', 0)");
    }

    @BeforeEach
    void fillPool() throws Exception {
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, POOL);
        commands = Bank.once(pool).commands();
        Await.until(
                DEADLINE,
                () -> pool.getHikariPoolMXBean().getIdleConnections() == POOL,
                "the pool is full");
    }

    @AfterEach
    void close() throws Exception {
        pool.close();
        proxy.close();
    }

    private Repeater repeater(Winner winner, InFlightPolicy policy) {
        return new Repeater(commands, winner.id(), RunOptions.standard().withInFlight(policy));
    }

    @ParameterizedTest
    @EnumSource
    void a_duplicate_holds_a_connection_for_two_trips_and_waits_for_no_lock(Isolation isolation)
            throws Exception {
        var options =
                RunOptions.standard()
                        .withInFlight(InFlightPolicy.failFast())
                        .withTransaction(
                                TransactionOptions.readCommitted().withIsolation(isolation));
        try (var winner = Winner.of(db, Bank.id("hot"));
                var watch = new LockWatch(db)) {
            var repeater = new Repeater(commands, winner.id(), options);
            proxy.resetCounters();
            Race.of(
                    REPEATERS,
                    () -> {
                        for (int i = 0; i < TIMES; i++) {
                            assertThatThrownBy(() -> repeater.once())
                                    .isInstanceOf(CommandInFlightException.class);
                        }
                        return null;
                    });
            assertThat(watch.seen()).as("waits for a lock").isZero();
        }

        List<List<String>> flights = Wire.flights(proxy);
        assertThat(flights).filteredOn(Wire::claims).hasSize(REPEATERS * TIMES);
        assertThat(flights)
                .filteredOn(flight -> !Wire.claims(flight))
                .hasSize(REPEATERS * TIMES)
                .allSatisfy(flight -> assertThat(flight).containsExactly("ROLLBACK"));
    }

    @Test
    void a_caller_that_blocks_in_the_database_would_have_been_seen() throws Exception {
        try (var winner = Winner.of(db, Bank.id("hot"));
                var watch = new LockWatch(db)) {
            var caller = repeater(winner, InFlightPolicy.blockUpTo(DEADLINE)).startOnce();

            Await.until(DEADLINE, () -> watch.seen() > 0, "the blocked caller is seen");

            winner.close();
            assertThat(caller.get().replayed()).isTrue();
        }
    }

    @Test
    void of_many_waiting_callers_one_asks_the_database() throws Exception {
        var asks = new AskCounter(pool);
        var callers = new ArrayList<FutureTask<Outcome<String>>>();
        commands = Bank.once(asks.dataSource()).commands();
        try (var winner = Winner.of(db, Bank.id("hot"))) {
            asks.reset();
            proxy.resetCounters();
            for (int i = 0; i < REPEATERS; i++) {
                callers.add(repeater(winner, InFlightPolicy.waitUpTo(DEADLINE)).startOnce());
            }
            Await.until(
                    DEADLINE,
                    () -> asks.callers() == REPEATERS && asks.most() > 20,
                    "all have asked and one has asked again and again");

            assertThat(asks.counts())
                    .as("all but one have asked once")
                    .filteredOn(count -> count > 1)
                    .hasSize(1);
            assertThat(winner.inFlight()).isTrue();
        }
        for (FutureTask<Outcome<String>> caller : callers) {
            assertThat(caller.get()).isEqualTo(new Outcome<>("won", true));
        }
        assertThat(Wire.flights(proxy).stream().filter(Wire::claims).count())
                .as("every question is one claim on the wire")
                .isEqualTo(asks.counts().stream().mapToInt(Integer::intValue).sum());
    }

    @ParameterizedTest
    @EnumSource(names = {"FAIL_FAST", "WAIT"})
    void unrelated_commands_complete_while_one_is_repeated_on_their_pool(InFlightPolicy.Kind kind)
            throws Exception {
        var policy = new InFlightPolicy(kind, DEADLINE);
        var over = new AtomicBoolean();
        var repeaters = new ArrayList<FutureTask<Void>>();
        List<String> done = new ArrayList<>();
        try (var winner = Winner.of(db, Bank.id("hot"))) {
            for (int i = 0; i < REPEATERS; i++) {
                repeaters.add(repeater(winner, policy).startUntil(over));
            }
            Await.until(
                    DEADLINE,
                    () -> Wire.flights(proxy).size() > REPEATERS,
                    "the repeaters are at it");

            Race.of(
                            Stream.of("a", "b", "c", "d")
                                    .<Callable<List<String>>>map(this::deposits)
                                    .toList())
                    .forEach(done::addAll);

            assertThat(winner.inFlight()).isTrue();
            assertThat(repeaters).noneMatch(FutureTask::isDone);
            over.set(true);
        }
        for (FutureTask<Void> repeater : repeaters) {
            repeater.get();
        }
        for (String id : done) {
            assertThat(Bank.effects(db, id)).isEqualTo(1);
        }
    }

    private Callable<List<String>> deposits(String account) {
        return () -> {
            List<String> ids = Stream.generate(() -> Bank.id("unrelated")).limit(25).toList();
            for (String id : ids) {
                commands.run(
                        Bank.command(id),
                        String.class,
                        work -> {
                            Bank.deposit(work.connection(), account, id);
                            return "done";
                        });
            }
            return ids;
        };
    }
}
