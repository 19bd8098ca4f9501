package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Sixteen threads deliver the versions of a hundred aggregates in any order, some repeatedly. */
class VersionRaceTest {

    private static final int THREADS = 16;
    private static final int AGGREGATES = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final ConcurrentLinkedQueue<InboxMessage> broker = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private final AtomicInteger deferred = new AtomicInteger();
    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE applied (n bigserial, aggregate text, version bigint)");
        once = OnlyOnce.on(db.pool(THREADS)).withoutExpiry().build();
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    @Test
    void strict_applies_every_version_once_and_in_order() throws Exception {
        race(6, once.versionGuard(), Duration.ofSeconds(60));
        assertStrict(6);
    }

    @Test
    void monotonic_never_goes_back() throws Exception {
        race(10, once.versionGuard().monotonic(), Duration.ofSeconds(60));
        assertMonotonic(10);
    }

    @Test
    @Tag("long")
    void strict_applies_every_version_once_and_in_order_in_the_long_run() throws Exception {
        race(40, once.versionGuard(), Duration.ofMinutes(15));
        assertStrict(40);
    }

    @Test
    @Tag("long")
    void monotonic_never_goes_back_in_the_long_run() throws Exception {
        race(200, once.versionGuard().monotonic(), Duration.ofMinutes(15));
        assertMonotonic(200);
    }

    /** A trigger holds a step between its attempt, which fails, and its look at what is stored. */
    @Test
    void who_is_overtaken_between_attempt_and_look_asks_again() throws Exception {
        holdAfter("UPDATE");
        assertThat(advance(1, "off").isApply()).isTrue();
        var overtaken = new FutureTask<>(() -> advance(3, "on"));
        try (var holder = db.connect()) {
            holder.createStatement().execute("SELECT pg_advisory_lock(1)");
            new Thread(overtaken).start();
            awaitWaiting("it has tried and found a gap");
            assertThat(advance(2, "off").isApply()).isTrue();
        }
        assertThat(overtaken.get(30, TimeUnit.SECONDS).isApply()).isTrue();
    }

    /** A trigger holds a batch after its insert, which finds the row, and before it locks it. */
    @Test
    void a_batch_whose_row_was_reset_before_it_was_locked_fails_and_counts_nothing()
            throws Exception {
        holdAfter("INSERT");
        advance(1, "off");
        try (var holder = db.connect();
                var connection = db.connect()) {
            connection.setAutoCommit(false);
            connection.createStatement().execute("SET LOCAL test.hold = 'on'");
            var step = new VersionGuard.Step("acme", "Case", "held", 1);
            var overtaken = applyingBeforeUpdate(connection);
            var batch =
                    new FutureTask<>(
                            () -> once.versionGuard().advanceAll(overtaken, "p", List.of(step)));
            holder.createStatement().execute("SELECT pg_advisory_lock(1)");
            new Thread(batch).start();
            awaitWaiting("it has found the row");
            once.transactions().execute(c -> once.versionGuard().reset(c, "p"));
            holder.createStatement().execute("SELECT pg_advisory_unlock(1)");

            assertThatThrownBy(() -> batch.get(30, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(e.getSQLState()).isEqualTo("40001"));
        }
    }

    /** Another applies the version before this connection's first UPDATE. */
    private Connection applyingBeforeUpdate(Connection connection) {
        return (Connection)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, args) -> {
                            if (method.getName().equals("prepareStatement")
                                    && args[0].toString().startsWith("UPDATE")) {
                                advance(1, "off");
                            }
                            return method.invoke(connection, args);
                        });
    }

    /** A transaction that says so waits there, for a lock that the test has. */
    private void holdAfter(String event) throws SQLException {
        db.execute(
                """
                CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF current_setting('test.hold', true) = 'on' THEN
                        PERFORM pg_advisory_xact_lock(1);
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER hold AFTER %s ON onlyonce.projection_version
                    FOR EACH STATEMENT EXECUTE FUNCTION hold()
                """
                        .formatted(event));
    }

    private void awaitWaiting(String what) throws Exception {
        Await.until(
                PATIENCE,
                () -> count("pg_locks WHERE locktype = 'advisory' AND NOT granted") == 1,
                what);
    }

    private Advance advance(long version, String hold) throws SQLException {
        return once.transactions()
                .execute(
                        connection -> {
                            connection
                                    .createStatement()
                                    .execute("SET LOCAL test.hold = '" + hold + "'");
                            return once.versionGuard()
                                    .advance(connection, "p", "acme", "Case", "held", version);
                        });
    }

    private void assertStrict(int versions) throws SQLException {
        assertThat(count("applied")).isEqualTo((long) AGGREGATES * versions);
        assertThat(
                        count(
                                "(SELECT version, row_number() OVER (PARTITION BY aggregate ORDER"
                                        + " BY n) AS place FROM applied) a WHERE version <> place"))
                .as("applied out of turn")
                .isZero();
        assertAllAt(versions);
        assertThat(deferred).as("answers that said: not yet").hasPositiveValue();
    }

    private void assertMonotonic(int versions) throws SQLException {
        assertThat(
                        count(
                                "(SELECT version, lag(version) OVER (PARTITION BY aggregate ORDER"
                                    + " BY n) AS before FROM applied) a WHERE version <= before"))
                .as("gone back")
                .isZero();
        assertThat(
                        count(
                                "(SELECT aggregate FROM applied GROUP BY 1 HAVING max(version) = "
                                        + versions
                                        + ") a"))
                .as("aggregates that got the last version")
                .isEqualTo(AGGREGATES);
        assertAllAt(versions);
    }

    private void assertAllAt(int versions) throws SQLException {
        assertThat(count("onlyonce.projection_version WHERE version = " + versions))
                .isEqualTo(AGGREGATES);
        assertThat(unacknowledged).as("never acknowledged").hasValue(0);
    }

    private void race(int versions, VersionGuard guard, Duration deadline) throws Exception {
        List<InboxMessage> deliveries = deliveries(versions);
        unacknowledged.set(deliveries.size());
        broker.addAll(deliveries);
        List<Callable<Void>> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Inbox inbox = once.inbox("race");
            boolean single = i % 2 == 0;
            threads.add(() -> consume(inbox, guard, single));
        }
        Race.of(deadline, threads);
        System.out.printf(
                "versions: %d deliveries of %d steps, %d times not yet, %d deadlocks%n",
                deliveries.size(),
                AGGREGATES * versions,
                deferred.get(),
                db.count(
                        "SELECT deadlocks FROM pg_stat_database WHERE datname ="
                                + " current_database()"));
    }

    /** Some versions come again as the same message, some under an id of their own. */
    private static List<InboxMessage> deliveries(int versions) {
        var random = new Random(versions);
        List<InboxMessage> deliveries = new ArrayList<>();
        for (int aggregate = 0; aggregate < AGGREGATES; aggregate++) {
            for (int version = 1; version <= versions; version++) {
                deliveries.add(message("m", aggregate, version));
                if (random.nextInt(3) == 0) {
                    deliveries.add(message("m", aggregate, version));
                }
                if (random.nextInt(3) == 0) {
                    deliveries.add(message("again", aggregate, version));
                }
            }
        }
        Collections.shuffle(deliveries, random);
        return deliveries;
    }

    private static InboxMessage message(String prefix, int aggregate, int version) {
        String content = aggregate + ":" + version;
        return InboxMessage.of(
                "acme", "cases", Markers.MARK + prefix + ":" + content, content.getBytes());
    }

    private Void consume(Inbox inbox, VersionGuard guard, boolean single) throws Exception {
        while (unacknowledged.get() > 0 && !Thread.currentThread().isInterrupted()) {
            List<InboxMessage> taken =
                    take(single ? 1 : ThreadLocalRandom.current().nextInt(1, 60));
            if (single) {
                for (InboxMessage message : taken) {
                    settle(message, inbox.process(message, incoming -> apply(incoming, guard)));
                }
            } else {
                List<InboxAnswer> answers =
                        inbox.processAll(taken, incoming -> apply(incoming, guard)).answers();
                for (int i = 0; i < taken.size(); i++) {
                    settle(taken.get(i), answers.get(i));
                }
            }
        }
        return null;
    }

    private List<InboxMessage> take(int most) {
        List<InboxMessage> taken = new ArrayList<>();
        while (taken.size() < most) {
            InboxMessage next = broker.poll();
            if (next == null) {
                break;
            }
            taken.add(next);
        }
        return taken;
    }

    /** What is not done is delivered again, after all others. */
    private void settle(InboxMessage message, InboxAnswer answer) {
        if (answer.isDone()) {
            unacknowledged.decrementAndGet();
            return;
        }
        if (answer instanceof InboxAnswer.Failed failed) {
            throw new AssertionError("a message failed", failed.cause());
        }
        if (answer instanceof InboxAnswer.Deferred) {
            deferred.incrementAndGet();
        }
        broker.add(message);
    }

    private static void apply(Incoming incoming, VersionGuard guard) throws SQLException {
        String[] content = new String(incoming.message().payload()).split(":");
        long version = Long.parseLong(content[1]);
        Advance advance =
                guard.advance(incoming.connection(), "list", "acme", "Case", content[0], version);
        if (!advance.isApply()) {
            return;
        }
        try (var insert =
                incoming.connection()
                        .prepareStatement(
                                "INSERT INTO applied (aggregate, version) VALUES (?, ?)")) {
            insert.setString(1, content[0]);
            insert.setLong(2, version);
            insert.executeUpdate();
        }
    }

    private long count(String from) throws SQLException {
        return db.count("SELECT count(*) FROM " + from);
    }
}
