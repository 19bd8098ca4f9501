package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A relay whose publisher does what publishers must not do. */
class PublisherFaultsTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final AtomicInteger connections = new AtomicInteger();
    private final Recorder recorder = new Recorder();
    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once =
                OnlyOnce.on(HookedSource.of(db.pool(8), connections::incrementAndGet))
                        .withoutExpiry()
                        .build();
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    private void append(OutboxEvent... events) throws SQLException {
        once.transactions().execute(c -> once.outbox().append(c, "acme", List.of(events)));
    }

    @Test
    void a_missing_answer_fails_its_call_only() throws Exception {
        append(RelayContract.event("bad", 1), RelayContract.event("good", 1));
        EventPublisher publisher =
                events ->
                        events.get(0).aggregateId().equals("bad")
                                ? Arrays.asList(new PublishResult[events.size()])
                                : recorder.publish(events);
        try (OutboxRelay relay = once.relay(publisher, RelayContract.quick())) {
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return recorder.keys().contains("good:1");
                    },
                    "the other event is published");
            assertThat(relay.stats().failedCalls()).isPositive();
        }
    }

    @Test
    void an_error_that_the_database_cannot_store_is_charged_all_the_same() throws Exception {
        append(RelayContract.event("a", 1));
        String cut = "x".repeat(1999) + "\uD83D\uDE00";
        recorder.answer(
                event ->
                        PublishResult.failed(
                                event.delivery().attempt() == 1 ? "a\u0000b \uD83D" : cut));
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick())) {
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return relay.stats().dead() == 1;
                    },
                    "it is a dead letter");
        }
        try (var connection = db.connect()) {
            assertThat(once.deadLetters().list(connection, 1))
                    .singleElement()
                    .satisfies(letter -> assertThat(letter.error()).startsWith("xxx"));
        }
    }

    @Test
    void calls_that_hang_are_bounded_however_the_relay_is_driven() throws Exception {
        for (int n = 1; n <= 40; n++) {
            append(RelayContract.event("a" + n, 1));
        }
        var end = new CountDownLatch(1);
        EventPublisher deaf =
                events -> {
                    while (end.getCount() > 0) {
                        try {
                            end.await();
                        } catch (InterruptedException e) {
                            continue;
                        }
                    }
                    return recorder.publish(events);
                };
        RelayOptions options =
                RelayContract.quick().withLease(Duration.ofSeconds(10), Duration.ofMillis(10));
        try (OutboxRelay relay = once.relay(deaf, options)) {
            try {
                for (int round = 0; round < 20; round++) {
                    relay.runOnce();
                    assertThat(relay.stats().abandonedCalls()).isLessThanOrEqualTo(4);
                }
                assertThat(relay.isPaused()).isTrue();
            } finally {
                end.countDown();
            }
            Await.until(LONG, () -> relay.stats().abandonedCalls() == 0, "the calls end");
            relay.resume();
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return db.count(
                                        "SELECT count(*) FROM onlyonce.outbox_event WHERE state ="
                                                + " 1")
                                == 40;
                    },
                    "all is published after all");
        }
    }

    @Test
    void stop_says_that_a_round_is_still_under_way() throws Exception {
        append(RelayContract.event("a", 1));
        var inside = new CountDownLatch(1);
        var end = new CountDownLatch(1);
        OutboxRelay relay =
                once.relay(
                        events -> {
                            inside.countDown();
                            end.await();
                            return recorder.publish(events);
                        },
                        RelayOptions.standard());
        var round = new Thread(() -> runQuietly(relay));
        round.start();
        inside.await();

        assertThat(relay.stop(Duration.ofMillis(200))).isFalse();

        end.countDown();
        round.join(LONG.toMillis());
        assertThat(relay.stop(LONG)).isTrue();
    }

    private static void runQuietly(OutboxRelay relay) {
        try {
            relay.runOnce();
        } catch (SQLException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void once_paused_a_round_makes_no_further_call() throws Exception {
        for (int n = 1; n <= 10; n++) {
            append(RelayContract.event("a" + n, 1));
        }
        recorder.answer(event -> PublishResult.failed("no")); // to be offered one by one
        var relay = new AtomicReference<OutboxRelay>();
        EventPublisher publisher =
                events -> {
                    relay.get().pause();
                    return recorder.publish(events);
                };
        try (OutboxRelay pausing = once.relay(publisher, RelayContract.quick())) {
            relay.set(pausing);
            pausing.runOnce();
            recorder.answer(event -> PublishResult.published());
            pausing.resume();
            Await.until(
                    LONG,
                    () ->
                            db.count(
                                            "SELECT count(*) FROM onlyonce.outbox_blocked WHERE"
                                                    + " blocked_until <= clock_timestamp()")
                                    == 10,
                    "all are due");

            assertThat(pausing.runOnce()).isEqualTo(1);

            assertThat(recorder.keys()).as("what was under way").hasSize(1);
            assertThat(pausing.stats().published()).isEqualTo(1);
        }
    }

    @Test
    void resuming_during_an_outage_charges_nobody() throws Exception {
        append(RelayContract.event("a", 1));
        recorder.answer(
                event -> {
                    throw new IllegalStateException("the broker is away");
                });
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick())) {
            for (int failed = 1; failed <= 5; failed++) {
                int calls = failed;
                Await.until(
                        LONG,
                        () -> {
                            relay.runOnce();
                            return relay.stats().failedCalls() >= calls;
                        },
                        "one more call has failed");
                relay.pause();
                relay.resume(); // hope is no proof
            }

            assertThat(relay.stats().failed()).isZero();
            assertThat(relay.stats().dead()).isZero();
        }
    }
}
