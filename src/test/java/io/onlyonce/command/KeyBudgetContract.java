package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Attempt;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.Race;
import io.onlyonce.http.HttpIdempotency;
import io.onlyonce.http.HttpOperation;
import io.onlyonce.http.RequestParts;
import io.onlyonce.http.StoredResponse;
import io.onlyonce.observe.OnlyOnceListener;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** What a budget of new ids promises on every database. */
abstract class KeyBudgetContract extends DatabaseContract {

    /** Long enough that no test sees its end, unless midnight UTC comes by. */
    private static final Duration DAY = Duration.ofDays(1);

    private HikariDataSource pool;

    KeyBudgetContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        pool = db.pool(4);
    }

    private OnlyOnce once(long newIds, Duration window) throws SQLException {
        return OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).withKeyBudget(newIds, window).build();
    }

    private static Command command(String caller, String id) {
        return Command.of(
                new CommandScope("acme", caller, "deposit"),
                Markers.MARK + id,
                PayloadHash.ofJson("{}"));
    }

    private static Outcome<String> run(OnlyOnce once, Command command) throws SQLException {
        return once.commands().run(command, String.class, work -> "receipt");
    }

    @ParameterizedTest
    @EnumSource
    void new_ids_beyond_the_budget_are_refused_and_known_ones_answered(Isolation isolation)
            throws Exception {
        var once = once(3, DAY);
        var options =
                RunOptions.standard()
                        .withTransaction(
                                TransactionOptions.readCommitted().withIsolation(isolation));
        String caller = Bank.id("caller");
        var runs = new AtomicInteger();
        for (int i = 0; i < 3; i++) {
            once.commands().run(command(caller, "id" + i), String.class, options, w -> "r");
        }
        assertThatThrownBy(
                        () ->
                                once.commands()
                                        .run(
                                                command(caller, "id3"),
                                                String.class,
                                                options,
                                                w -> "r" + runs.incrementAndGet()))
                .isInstanceOfSatisfying(
                        KeyBudgetExceededException.class,
                        e -> assertThat(e.retryAfter()).isPositive().isLessThanOrEqualTo(DAY));
        assertThat(runs).hasValue(0);
        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE caller = '"
                                        + caller
                                        + "'"))
                .isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            assertThat(run(once, command(caller, "id" + i)).replayed()).isTrue();
        }
        assertThat(run(once, command(caller + "x", "id3")).replayed()).isFalse();
    }

    @Test
    void what_leaves_no_row_costs_nothing() throws Exception {
        var once = once(2, DAY);
        String caller = Bank.id("caller");
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(
                            () ->
                                    once.commands()
                                            .run(
                                                    command(caller, "fails"),
                                                    String.class,
                                                    work -> {
                                                        throw new IllegalStateException();
                                                    }))
                    .isInstanceOf(IllegalStateException.class);
        }
        run(once, command(caller, "one"));
        for (int i = 0; i < 5; i++) {
            run(once, command(caller, "one"));
        }
        run(once, command(caller, "two"));
        assertThatThrownBy(() -> run(once, command(caller, "three")))
                .isInstanceOf(KeyBudgetExceededException.class);
    }

    /** Two objects are two processes to each other: they share nothing but the table. */
    @Test
    void racing_processes_never_take_more_than_the_budget() throws Exception {
        List<OnlyOnce> processes = List.of(once(250, DAY), once(250, DAY), once(250, DAY));
        String caller = Bank.id("flood");
        List<Callable<Integer>> calls =
                IntStream.range(0, 6)
                        .<Callable<Integer>>mapToObj(
                                n ->
                                        () -> {
                                            int done = 0;
                                            for (int i = 0; i < 100; i++) {
                                                done += tries(processes.get(n % 3), caller) ? 1 : 0;
                                            }
                                            return done;
                                        })
                        .toList();
        int done = Race.of(calls).stream().mapToInt(Integer::intValue).sum();
        assertThat(done)
                .as("less than a portion, which is 2, is lost in each of two processes")
                .isBetween(248, 250);
        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE caller = '"
                                        + caller
                                        + "'"))
                .isEqualTo(done);
        assertThat(
                        db.count(
                                "SELECT SUM(used) FROM onlyonce.key_budget WHERE caller = '"
                                        + caller
                                        + "'"))
                .isEqualTo(250);
    }

    private static boolean tries(OnlyOnce once, String caller) throws SQLException {
        try {
            run(once, command(caller, Bank.id("flood")));
            return true;
        } catch (KeyBudgetExceededException e) {
            return false;
        }
    }

    @Test
    void one_connection_is_enough() throws Exception {
        var one = db.pool(1, config -> config.setConnectionTimeout(2_000));
        var once = OnlyOnce.on(one).withTtl(Duration.ofDays(7)).withKeyBudget(1_000, DAY).build();
        String caller = Bank.id("one");
        List<Attempt<Outcome<String>>> attempts =
                Race.attempts(16, () -> run(once, command(caller, Bank.id("one"))));
        assertThat(attempts).allMatch(attempt -> attempt.failure().isEmpty());
    }

    @Test
    void the_next_window_brings_a_new_budget() throws Exception {
        var once = once(1, Duration.ofSeconds(1));
        String caller = Bank.id("windows");
        run(once, command(caller, "first"));
        Await.until(Duration.ofSeconds(20), () -> tries(once, caller), "another window has begun");
        assertThat(
                        db.count(
                                "SELECT COUNT(DISTINCT window_start) FROM onlyonce.key_budget WHERE"
                                        + " caller = '"
                                        + caller
                                        + "'"))
                .isGreaterThanOrEqualTo(2);
    }

    @Test
    void counters_of_old_windows_are_removed() throws Exception {
        db.execute(
                "INSERT INTO onlyonce.key_budget (window_start, used, shard, caller, tenant) VALUES"
                        + " ('2020-01-01 00:00:00+00', 1, 0, 'old', 'acme')");
        run(once(10, DAY), command(Bank.id("new"), "one"));
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.key_budget WHERE caller = 'old'"))
                .isZero();
    }

    @Test
    void http_answers_429_with_retry_after() throws Exception {
        String caller = Bank.id("http");
        var refused = new AtomicInteger();
        var once =
                OnlyOnce.on(pool)
                        .withTtl(Duration.ofDays(7))
                        .withKeyBudget(1, DAY)
                        .withListener(
                                new OnlyOnceListener() {
                                    @Override
                                    public void keyBudgetRefused(CommandScope scope) {
                                        refused.addAndGet(scope.caller().equals(caller) ? 1 : 0);
                                    }
                                })
                        .build();
        assertThat(post(once, caller, "first-key").status()).isEqualTo(200);
        StoredResponse response = post(once, caller, "second-key");
        assertThat(response.status()).isEqualTo(429);
        assertThat(new String(response.body()))
                .contains("\"code\":\"IDEMPOTENCY_KEY_BUDGET_EXCEEDED\"", "\"retryable\":true");
        assertThat(response.headers().toString().toLowerCase()).contains("retry-after");
        assertThat(post(once, caller, "first-key").status()).isEqualTo(200);
        assertThat(refused).hasValue(1);
    }

    private static StoredResponse post(OnlyOnce once, String caller, String key)
            throws SQLException {
        return HttpIdempotency.on(once)
                .handle(
                        HttpOperation.of("deposit", "POST", "/deposits"),
                        RequestParts.of("acme", caller)
                                .withKey(List.of('"' + Markers.MARK + key + '"')),
                        work -> StoredResponse.of(200));
    }

    @Test
    void a_budget_that_makes_no_sense_is_refused() {
        var builder = OnlyOnce.on(pool);
        assertThatThrownBy(() -> builder.withKeyBudget(0, DAY))
                .isInstanceOf(IllegalArgumentException.class);
        for (Duration window :
                List.of(Duration.ZERO, Duration.ofMillis(1500), Duration.ofDays(2))) {
            assertThatThrownBy(() -> builder.withKeyBudget(1, window))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("whole seconds");
        }
    }
}
