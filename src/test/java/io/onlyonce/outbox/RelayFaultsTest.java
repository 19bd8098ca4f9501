package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A relay whose database fails under it. */
class RelayFaultsTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final AtomicReference<Throwable> nextFailure = new AtomicReference<>();
    private final AtomicInteger connections = new AtomicInteger();
    private final Recorder recorder = new Recorder();
    private volatile HookedSource.Hook hook = () -> {};
    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        hook = HookedSource.once(nextFailure);
        once =
                OnlyOnce.on(
                                HookedSource.of(
                                        db.pool(8),
                                        () -> {
                                            connections.incrementAndGet();
                                            hook.before();
                                        }))
                        .withoutExpiry()
                        .build();
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    private void append(OutboxEvent... events) throws SQLException {
        try (var connection = db.connect()) { // as another process does: nobody is woken
            once.outbox().append(connection, "acme", List.of(events));
        }
    }

    @Test
    void an_event_whose_mark_is_lost_is_counted_and_delivered_again() throws Exception {
        append(RelayContract.event("a", 1));
        recorder.answer(
                event -> {
                    if (recorder.calls.size() == 1) {
                        nextFailure.set(new SQLException("the line is dead", "08006"));
                    }
                    return PublishResult.published();
                });
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick())) {
            assertThatThrownBy(relay::runOnce).isInstanceOf(SQLException.class);
            assertThat(relay.stats().unmarked()).isEqualTo(1);
            assertThat(relay.stats().published()).isZero();

            Await.until(LONG, () -> relay.runOnce() == 1, "it is offered again");

            assertThat(recorder.keys()).containsExactly("a:1", "a:1");
            assertThat(relay.stats().published()).isEqualTo(1);
        }
    }

    @Test
    void a_relay_that_gets_on_between_failures_does_not_slow_down() throws Exception {
        append(RelayContract.event("refused", 1));
        for (int n = 1; n <= 30; n++) {
            append(RelayContract.event("a", n));
        }
        var answeredAt = new AtomicInteger(Integer.MAX_VALUE);
        recorder.answer(
                event -> {
                    answeredAt.set(connections.get());
                    return event.aggregateId().equals("refused")
                            ? PublishResult.failed("no")
                            : PublishResult.published();
                });
        hook =
                () -> { // the mark passes, the charge does not
                    if (connections.get() == answeredAt.get() + 2) {
                        throw new SQLException("the line is dead", "08006");
                    }
                };
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick().withBatch(2))) {
            relay.start();
            Await.until(LONG, () -> relay.stats().published() == 30, "all is published");
        }
    }

    @Test
    void after_failures_an_idle_relay_polls_as_often_as_before() throws Exception {
        var failures = new AtomicInteger(20);
        hook =
                () -> {
                    if (failures.getAndDecrement() > 0) {
                        throw new SQLException("the line is dead", "08006");
                    }
                };
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick())) {
            relay.start();
            Await.until(
                    LONG,
                    () -> {
                        relay.wake();
                        return failures.get() < 0;
                    },
                    "the line is back");
            int before = connections.get();
            Await.until(
                    Duration.ofSeconds(5),
                    () -> connections.get() >= before + 10,
                    "it has polled ten times");
        }
    }

    @Test
    void a_started_relay_survives_an_error_of_the_machine() throws Exception {
        append(RelayContract.event("a", 1));
        nextFailure.set(new OutOfMemoryError("not really"));
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick())) {
            relay.start();
            Await.until(LONG, () -> recorder.keys().contains("a:1"), "it goes on");
        }
    }

    @Test
    void after_an_outage_a_poll_costs_no_more_than_before() throws Exception {
        for (int n = 1; n <= 60; n++) {
            append(RelayContract.event("a" + n, 1));
        }
        var isAway = new AtomicInteger(1);
        recorder.answer(
                event -> {
                    if (isAway.get() == 1) {
                        throw new IllegalStateException("the broker is away");
                    }
                    return PublishResult.published();
                });
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick())) {
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return relay.stats().failedCalls() > 200;
                    },
                    "many calls have failed");
            isAway.set(0);
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return relay.stats().published() == 60;
                    },
                    "all is published");
            Await.until(
                    Duration.ofSeconds(5),
                    () -> {
                        int before = connections.get();
                        relay.runOnce();
                        return connections.get() - before <= 2;
                    },
                    "a poll is one trip again");
        }
    }

    @Test
    void stop_returns_by_its_deadline_while_the_database_is_silent() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(db.target())) {
            OnlyOnce far = OnlyOnce.on(db.poolThrough(proxy, 4)).withoutExpiry().build();
            OutboxRelay relay = far.relay(recorder);
            relay.runOnce();
            proxy.silenceOn("outbox_lease");
            long begin = System.nanoTime();

            assertThat(relay.stop(Duration.ofMillis(500))).isFalse();

            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(LONG.dividedBy(3));
            proxy.reset();
        }
    }

    @Test
    void a_requeue_that_is_cut_off_leaves_no_event_that_waits_for_ever() throws Exception {
        append(RelayContract.event("a", 1), RelayContract.event("a", 2));
        recorder.answer(event -> PublishResult.failed("no"));
        RelayOptions options =
                RelayContract.quick().withAttempts(1, Duration.ofMillis(1), Duration.ofMillis(1));
        try (OutboxRelay relay = once.relay(recorder, options);
                FaultProxy proxy = FaultProxy.to(db.target());
                var operator = db.through(proxy).getConnection()) {
            relay.runOnce();
            assertThat(relay.stats().dead()).isEqualTo(1);
            proxy.cutRequest("outbox_blocked");

            assertThatThrownBy(() -> once.deadLetters().requeue(operator, "acme", "a:1"))
                    .isInstanceOf(SQLException.class);

            recorder.answer(event -> PublishResult.published());
            try (var again = db.connect()) {
                assertThat(once.deadLetters().requeue(again, "acme", "a:1")).isTrue();
            }
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return recorder.keys().size() == 2;
                    },
                    "both are published");
        }
        assertThat(recorder.keys()).containsExactly("a:1", "a:2");
    }
}
