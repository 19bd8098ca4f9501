package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Claim;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandExpiredException;
import io.onlyonce.command.CommandIds;
import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.CommandOutcomeUnknownException;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.Outcome;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.command.Rejection;
import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.inbox.MessageIdentityViolationException;
import io.onlyonce.observe.ObservedCommand.Decision;
import io.onlyonce.outbox.EventPublisher;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;
import io.onlyonce.outbox.RelayOptions;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** What listeners are told, when, and what they cannot do to a command. */
abstract class ListenerContract extends DatabaseContract {

    private static final CommandScope SCOPE = new CommandScope("acme", "teller", "deposit");

    private static final String RECEIPT = "receipt " + Markers.MARK;

    private final Told told = new Told();
    private HikariDataSource pool;
    private OnlyOnce once;

    ListenerContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void open() throws Exception {
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE effect (command varchar(255) NOT NULL)");
        pool = db.pool(2, config -> config.setConnectionTimeout(2_000));
        once = OnlyOnce.on(pool).withTtl(Duration.ofDays(1)).withListener(told).build();
    }

    @BeforeEach
    void forget() {
        told.first(() -> {});
        told.allAndForget();
    }

    private static String id() {
        return Markers.MARK + CommandIds.next();
    }

    private static Command command(String id) {
        return command(id, "{}");
    }

    private static Command command(String id, String json) {
        return Command.of(SCOPE, id, PayloadHash.ofJson(json));
    }

    private Outcome<String> run(Command command) throws SQLException {
        return once.commands()
                .run(
                        command,
                        String.class,
                        work -> {
                            insert(work.connection(), command.id());
                            return RECEIPT;
                        });
    }

    private static void insert(Connection connection, String id) throws SQLException {
        try (var statement = connection.prepareStatement("INSERT INTO effect VALUES (?)")) {
            statement.setString(1, id);
            statement.executeUpdate();
        }
    }

    private long effects(String id) throws SQLException {
        return db.count("SELECT COUNT(*) FROM effect WHERE command = '" + id + "'");
    }

    private static OutboxEvent event(String key) {
        return OutboxEvent.of(key, "Account", key, "Deposited", Markers.MARK.getBytes());
    }

    @Test
    void every_decision_about_a_command_is_told_once() throws Exception {
        String id = id();
        run(command(id));
        run(command(id));
        run(command(id).likelyRetry());
        assertThatThrownBy(() -> run(command(id, "[]")))
                .isInstanceOf(PayloadMismatchException.class);
        assertThatThrownBy(
                        () ->
                                once.commands()
                                        .run(
                                                command(id()),
                                                String.class,
                                                work -> {
                                                    throw new IllegalStateException("bug");
                                                }))
                .isInstanceOf(IllegalStateException.class);

        assertThat(told.commands)
                .extracting(ObservedCommand::decision)
                .containsExactly(
                        Decision.STARTED,
                        Decision.REPLAYED,
                        Decision.REPLAYED,
                        Decision.MISMATCH,
                        Decision.FAILED);
        ObservedCommand first = told.commands.get(0);
        assertThat(first.scope()).isEqualTo(SCOPE);
        assertThat(first.claim().orElseThrow()).isPositive();
        assertThat(first.run().orElseThrow()).isGreaterThan(first.claim().orElseThrow());
        assertThat(first.resultBytes()).hasValue(RECEIPT.length());
        assertThat(first.retries()).isZero();
        assertThat(first.resultUnreadable()).isFalse();
        assertThat(told.commands.get(1).resultBytes()).isEmpty();
    }

    @Test
    void rejections_are_told_when_they_are_made_and_when_they_are_replayed() throws Exception {
        String id = id();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(
                            () ->
                                    once.commands()
                                            .run(
                                                    command(id),
                                                    String.class,
                                                    work -> {
                                                        throw new CommandRejectedException(
                                                                "NO", "no");
                                                    }))
                    .isInstanceOf(CommandRejectedException.class);
        }
        assertThatThrownBy(
                        () ->
                                once.commands()
                                        .run(
                                                command(id()),
                                                String.class,
                                                RunOptions.standard().withoutRejections(),
                                                work -> {
                                                    throw new CommandRejectedException("NO", "no");
                                                }))
                .isInstanceOf(CommandRejectedException.class);
        assertThat(told.all)
                .containsExactly("command REJECTED", "command REJECTED", "command FAILED");
    }

    @Test
    void in_flight_expired_and_unresolved_are_told() throws Exception {
        String id = id();
        once.commands()
                .run(
                        command(id),
                        String.class,
                        work -> {
                            assertThatThrownBy(
                                            () ->
                                                    once.commands()
                                                            .run(
                                                                    command(id),
                                                                    String.class,
                                                                    RunOptions.standard()
                                                                            .withInFlight(
                                                                                    InFlightPolicy
                                                                                            .failFast()),
                                                                    w -> ""))
                                    .isInstanceOf(CommandInFlightException.class);
                            return "";
                        });
        String shortLived = id();
        Command soon = command(shortLived).withTtl(Duration.ofMillis(1), Duration.ofDays(1));
        run(soon);
        Await.until(
                Duration.ofSeconds(10),
                () ->
                        db.count(
                                        "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE"
                                                + " expires_at < CURRENT_TIMESTAMP AND command_id"
                                                + " = '"
                                                + shortLived
                                                + "'")
                                == 1,
                "it has expired");
        assertThatThrownBy(() -> run(soon)).isInstanceOf(CommandExpiredException.class);
        String open = id();
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            once.dedup().tryStart(connection, command(open));
            connection.commit();
        }
        assertThatThrownBy(() -> run(command(open)))
                .isInstanceOf(CommandOutcomeUnknownException.class);
        assertThat(told.all)
                .containsExactly(
                        "command IN_FLIGHT",
                        "command STARTED",
                        "command STARTED",
                        "command EXPIRED",
                        "command UNKNOWN");
    }

    @Test
    void a_result_that_cannot_be_given_back_is_told() throws Exception {
        String id = id();
        run(command(id));
        assertThatThrownBy(() -> once.commands().run(command(id), Integer.class, work -> 1))
                .isInstanceOf(StoredResultUnreadableException.class);
        assertThat(told.commands)
                .extracting(ObservedCommand::resultUnreadable)
                .containsExactly(false, true);
    }

    @Test
    void a_retried_work_is_counted() throws Exception {
        var runs = new AtomicInteger();
        once.commands()
                .run(
                        command(id()),
                        String.class,
                        work -> {
                            if (runs.incrementAndGet() < 3) {
                                throw new SQLException("again", "40001");
                            }
                            return "";
                        });
        assertThat(told.commands).singleElement().extracting(ObservedCommand::retries).isEqualTo(2);
    }

    /** The pool has two connections, so one that was still borrowed could be seen. */
    @Test
    void the_connection_is_back_when_a_listener_is_called() throws Exception {
        var borrowed = new AtomicInteger();
        told.first(() -> borrowed.addAndGet(pool.getHikariPoolMXBean().getActiveConnections()));
        String id = id();
        run(command(id));
        run(command(id));
        assertThatThrownBy(() -> run(command(id, "[]"))).isNotNull();
        once.transactions()
                .execute(
                        connection ->
                                once.outbox().append(connection, "acme", event("back:" + id)));
        once.inbox("back").process(message(id), in -> advance(in.connection(), 1));
        try (var relay = once.relay(all(PublishResult.published()))) {
            relay.runOnce();
        }
        assertThat(told.all).hasSizeGreaterThanOrEqualTo(7);
        assertThat(borrowed).hasValue(0);
    }

    @Test
    void a_listener_that_throws_changes_nothing() throws Exception {
        for (Runnable thrower :
                List.<Runnable>of(
                        () -> {
                            throw new IllegalStateException("listener");
                        },
                        () -> {
                            throw new AssertionError("listener");
                        })) {
            told.first(thrower);
            String id = id();
            assertThat(run(command(id))).isEqualTo(new Outcome<>(RECEIPT, false));
            assertThat(run(command(id))).isEqualTo(new Outcome<>(RECEIPT, true));
            assertThatThrownBy(() -> run(command(id, "[]")))
                    .isInstanceOf(PayloadMismatchException.class);
            assertThat(effects(id)).isEqualTo(1);
            assertThat(once.inbox("throws").process(message(id), in -> {}).isDone()).isTrue();
            once.transactions()
                    .execute(c -> once.outbox().append(c, "acme", event("throws:" + id)));
            var delivered = new AtomicInteger();
            EventPublisher counting =
                    events -> {
                        delivered.addAndGet(events.size());
                        return all(PublishResult.published()).publish(events);
                    };
            try (var relay = once.relay(counting)) {
                relay.runOnce();
            }
            assertThat(delivered).hasPositiveValue();
        }
    }

    @Test
    void while_a_listener_blocks_the_command_is_durable_and_others_go_on() throws Exception {
        var blocked = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        var victim = new AtomicReference<Thread>();
        told.first(
                () -> {
                    if (Thread.currentThread() == victim.get()) {
                        blocked.countDown();
                        await(release);
                    }
                });
        String id = id();
        var task = new FutureTask<>(() -> run(command(id)));
        var thread = new Thread(task);
        victim.set(thread);
        thread.start();
        try {
            await(blocked);
            for (int i = 0; i < 4; i++) { // more than the pool has connections
                assertThat(run(command(id)).replayed()).isTrue();
                assertThat(run(command(id())).replayed()).isFalse();
            }
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
            assertThat(task.isDone()).isFalse();
        } finally {
            release.countDown();
        }
        assertThat(task.get(10, TimeUnit.SECONDS)).isEqualTo(new Outcome<>(RECEIPT, false));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void events_are_told_when_they_are_committed() throws Exception {
        String id = id();
        once.commands()
                .run(
                        command(id),
                        String.class,
                        work -> {
                            work.outbox().append(event("a:" + id));
                            work.outbox().append(event("b:" + id));
                            return "";
                        });
        for (var options :
                List.of(TransactionOptions.readCommitted(), TransactionOptions.serializable())) {
            once.commands()
                    .run(
                            command(id()),
                            String.class,
                            RunOptions.standard().withTransaction(options),
                            work -> {
                                work.outbox().append(event("a:" + id));
                                return "";
                            });
        }
        assertThat(told.allAndForget())
                .containsExactly(
                        "command STARTED",
                        "events 2+0",
                        "command STARTED",
                        "events 0+1",
                        "command STARTED",
                        "events 0+1");

        var events = List.of(event("a:" + id), event("c:" + id));
        assertThatThrownBy(
                        () ->
                                once.transactions()
                                        .execute(
                                                connection -> {
                                                    once.outbox()
                                                            .append(connection, "acme", events);
                                                    throw new IllegalStateException();
                                                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(told.all).as("rolled back").isEmpty();
        once.transactions()
                .execute(
                        connection -> {
                            once.outbox().append(connection, "acme", events);
                            assertThat(told.all).as("not committed yet").isEmpty();
                            return "";
                        });
        assertThat(told.allAndForget()).containsExactly("events 1+1");
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            once.outbox().append(connection, "acme", event("d:" + id));
            assertThat(told.allAndForget())
                    .as("nobody tells of the end")
                    .containsExactly("events 1+0");
            connection.commit();
        }
    }

    @Test
    void the_low_road_is_told_of() throws Exception {
        String id = id();
        String no = id();
        once.transactions()
                .execute(
                        connection -> {
                            var started =
                                    (Claim.Started) once.dedup().tryStart(connection, command(id));
                            once.dedup().complete(connection, started, RECEIPT);
                            var second =
                                    (Claim.Started) once.dedup().tryStart(connection, command(no));
                            once.dedup().reject(connection, second, new Rejection("NO", "no"));
                            assertThat(told.all).isEmpty();
                            return "";
                        });
        once.transactions()
                .execute(
                        connection -> {
                            once.dedup().tryStart(connection, command(id));
                            once.dedup().tryStart(connection, command(no));
                            return once.dedup().tryStart(connection, command(id, "[]"));
                        });
        assertThat(told.all)
                .containsExactly(
                        "command STARTED",
                        "command REJECTED",
                        "command REPLAYED",
                        "command REJECTED",
                        "command MISMATCH");
    }

    private static InboxMessage message(String id) {
        return message(id, Markers.MARK);
    }

    private static InboxMessage message(String id, String payload) {
        return InboxMessage.of("acme", "orders", id, payload.getBytes());
    }

    private void advance(Connection connection, long version) throws SQLException {
        once.versionGuard().advance(connection, "view", "acme", "Order", "o" + hashCode(), version);
    }

    @Test
    void messages_are_told_once_each() throws Exception {
        String id = id();
        var inbox = once.inbox("billing");
        inbox.process(message(id), in -> in.outbox().append(event("mail:" + id)));
        inbox.process(message(id), in -> {});
        assertThatThrownBy(() -> inbox.process(message(id, "bye"), in -> {}))
                .isInstanceOf(MessageIdentityViolationException.class);
        assertThatThrownBy(
                        () ->
                                inbox.process(
                                        message(id()),
                                        in -> {
                                            throw new IllegalStateException();
                                        }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(told.allAndForget())
                .containsExactly(
                        "events 1+0",
                        "message billing PROCESSED",
                        "message billing DUPLICATE",
                        "message billing VIOLATION",
                        "message billing FAILED");

        String next = id();
        inbox.processAll(List.of(message(id), message(next), message(next)), in -> {});
        assertThat(told.allAndForget())
                .containsExactly(
                        "message billing DUPLICATE",
                        "message billing PROCESSED",
                        "message billing DUPLICATE");
        once.transactions()
                .execute(
                        connection -> {
                            inbox.tryStart(connection, message(id));
                            var started =
                                    (io.onlyonce.inbox.InboxClaim.Started)
                                            inbox.tryStart(connection, message("low:" + id));
                            inbox.markProcessed(connection, started);
                            return "";
                        });
        assertThat(told.all)
                .containsExactly("message billing DUPLICATE", "message billing PROCESSED");
    }

    @Test
    void version_guards_tell_what_they_answered() throws Exception {
        String aggregate = id();
        var guard = once.versionGuard();
        for (long version : new long[] {1, 1, 3}) {
            once.transactions()
                    .execute(c -> guard.advance(c, "view", "acme", "Order", aggregate, version));
        }
        once.inbox("guarded")
                .process(
                        message(aggregate),
                        in ->
                                guard.advance(
                                        in.connection(), "view", "acme", "Order", aggregate, 9));
        assertThat(told.all)
                .containsExactly(
                        "version view APPLY",
                        "version view STALE",
                        "version view GAP",
                        "version view GAP",
                        "message guarded DEFERRED");
    }

    private static EventPublisher all(PublishResult result) {
        return events -> events.stream().map(event -> result).toList();
    }

    @Test
    void relays_tell_what_they_moved() throws Exception {
        try (var relay = once.relay(all(PublishResult.published()))) {
            while (relay.runOnce() > 0) { // what the other tests have left
            }
        }
        told.allAndForget();
        String id = id();
        once.transactions().execute(c -> once.outbox().append(c, "acme", event("relay:" + id)));
        told.allAndForget();
        var options =
                RelayOptions.standard().withAttempts(1, Duration.ofMillis(1), Duration.ofMillis(1));
        try (var relay = once.relay(all(PublishResult.failed("no")), options)) {
            relay.runOnce();
            relay.runOnce();
        }
        assertThat(told.allAndForget()).containsExactly("relayed 0 failed 1 dead 1");
    }
}
