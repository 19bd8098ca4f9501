package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.outbox.DeadLetters.DeadLetter;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What outbox and relay promise on every database. */
abstract class RelayContract extends DatabaseContract {

    private static final Duration LONG = Duration.ofSeconds(30);

    protected OnlyOnce once;
    protected Recorder recorder;
    private final List<OutboxRelay> relays = new ArrayList<>();

    RelayContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void create() throws Exception {
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(db.pool(8)).withoutExpiry().build();
    }

    @BeforeEach
    void empty() throws Exception {
        db.execute("DELETE FROM onlyonce.outbox_event");
        db.execute("DELETE FROM onlyonce.outbox_blocked");
        recorder = new Recorder();
    }

    @AfterEach
    void stop() {
        relays.forEach(OutboxRelay::close);
        relays.clear();
    }

    protected static RelayOptions quick() {
        return RelayOptions.standard()
                .withPoll(Duration.ofMillis(20))
                .withAttempts(3, Duration.ofMillis(1), Duration.ofMillis(5));
    }

    protected OutboxRelay relay(EventPublisher publisher, RelayOptions options) {
        OutboxRelay relay = once.relay(publisher, options);
        relays.add(relay);
        return relay;
    }

    protected static OutboxEvent event(String aggregate, int n) {
        return OutboxEvent.of(
                        aggregate + ":" + n,
                        "Case",
                        aggregate,
                        "Changed",
                        (Markers.MARK + n).getBytes())
                .withVersion(n);
    }

    protected void append(String tenant, OutboxEvent... events) throws SQLException {
        once.transactions()
                .execute(connection -> once.outbox().append(connection, tenant, List.of(events)));
    }

    protected void drain(OutboxRelay relay) throws Exception {
        Await.until(
                LONG,
                () ->
                        relay.runOnce() == 0
                                && db.count(
                                                "SELECT COUNT(*) FROM onlyonce.outbox_event WHERE"
                                                        + " state IN (0, 3)")
                                        == 0,
                "the outbox is drained");
    }

    private long state(int state) throws SQLException {
        return db.count("SELECT COUNT(*) FROM onlyonce.outbox_event WHERE state = " + state);
    }

    @Test
    void events_are_published_in_order_with_all_they_carry() throws Exception {
        for (int n = 1; n <= 20; n++) {
            append("acme", event("a", n), event("b", n).withHeader("n", "" + n));
        }

        drain(relay(recorder, quick().withBatch(7)));

        assertThat(recorder.keys().stream().filter(k -> k.startsWith("a")))
                .containsExactlyElementsOf(keys("a", 20));
        assertThat(recorder.keys().stream().filter(k -> k.startsWith("b")))
                .containsExactlyElementsOf(keys("b", 20));
        OutboxEvent last =
                recorder.delivered.stream()
                        .filter(e -> e.key().equals("b:20"))
                        .findFirst()
                        .orElseThrow();
        assertThat(last.headers()).containsEntry("n", "20");
        assertThat(last.version()).hasValue(20);
        assertThat(last.payload()).asString().isEqualTo(Markers.MARK + 20);
        assertThat(last.type()).isEqualTo("Changed");
        assertThat(last.aggregateType()).isEqualTo("Case");
        assertThat(last.delivery().tenant()).isEqualTo("acme");
        assertThat(last.delivery().attempt()).isEqualTo(1);
        assertThat(last.delivery().appendedAt()).isNotNull();
        assertThat(state(1)).isEqualTo(40);
    }

    private static List<String> keys(String aggregate, int count) {
        List<String> keys = new ArrayList<>();
        for (int n = 1; n <= count; n++) {
            keys.add(aggregate + ":" + n);
        }
        return keys;
    }

    @Test
    void an_append_says_what_it_did_and_a_reused_key_is_refused() throws Exception {
        List<AppendResult> first =
                once.transactions()
                        .execute(
                                c ->
                                        once.outbox()
                                                .append(
                                                        c,
                                                        "acme",
                                                        List.of(
                                                                event("a", 1),
                                                                event("a", 2),
                                                                event("a", 1))));
        assertThat(first)
                .containsExactly(
                        AppendResult.APPENDED, AppendResult.APPENDED, AppendResult.DUPLICATE);
        AppendResult again =
                once.transactions().execute(c -> once.outbox().append(c, "acme", event("a", 1)));
        assertThat(again).isEqualTo(AppendResult.DUPLICATE);
        assertThatThrownBy(() -> append("acme", event("a", 3), event("a", 1).withVersion(9)))
                .isInstanceOf(EventKeyReusedException.class);
        assertThat(state(0)).as("the refused append left nothing").isEqualTo(2);
        assertThatThrownBy(() -> append("", event("a", 4))).hasMessageContaining("tenant must");
    }

    @Test
    void the_same_keys_of_two_tenants_are_independent_events() throws Exception {
        append("t1", event("a", 1));
        append("t2", event("a", 1).withVersion(7));

        drain(relay(recorder, quick()));

        assertThat(recorder.delivered)
                .extracting(e -> e.delivery().tenant())
                .containsExactlyInAnyOrder("t1", "t2");
        assertThat(recorder.delivered).extracting(e -> e.delivery().id()).doesNotHaveDuplicates();
    }

    @Test
    void rolled_back_appends_are_never_published() throws Exception {
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            once.outbox().append(connection, "acme", event("a", 1));
            connection.rollback();
        }
        append("acme", event("a", 2));

        drain(relay(recorder, quick()));

        assertThat(recorder.keys()).containsExactly("a:2");
    }

    @Test
    void a_low_number_that_commits_late_is_still_published() throws Exception {
        OutboxRelay relay = relay(recorder, quick());
        try (Connection late = db.connect()) {
            late.setAutoCommit(false);
            once.outbox().append(late, "acme", event("late", 1));
            append("acme", event("early", 1));
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return recorder.keys().contains("early:1");
                    },
                    "the later number is published");
            late.commit();
        }
        drain(relay);
        assertThat(recorder.keys()).containsExactly("early:1", "late:1");
    }

    @Test
    void a_failed_event_is_tried_again_and_its_aggregate_waits_for_it() throws Exception {
        for (int n = 1; n <= 5; n++) {
            append("acme", event("a", n), event("b", n));
        }
        recorder.answer(
                e ->
                        e.key().equals("a:2") && e.delivery().attempt() < 3
                                ? PublishResult.failed("no")
                                : PublishResult.published());

        OutboxRelay relay = relay(recorder, quick());
        drain(relay);

        assertThat(recorder.keys().stream().filter(k -> k.startsWith("a")))
                .containsExactlyElementsOf(keys("a", 5));
        assertThat(relay.stats().failed()).isEqualTo(2);
        assertThat(relay.stats().dead()).isZero();
        assertThat(relay.stats().published()).isEqualTo(10);
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.outbox_blocked")).isZero();
    }

    @Test
    void run_once_is_not_zero_while_others_are_ready_behind_those_that_failed() throws Exception {
        append("acme", event("a", 1), event("b", 1), event("c", 1));
        recorder.answer(
                e ->
                        e.aggregateId().equals("c")
                                ? PublishResult.published()
                                : PublishResult.failed("no"));
        RelayOptions hours =
                quick().withAttempts(3, Duration.ofHours(1), Duration.ofHours(1)).withBatch(1);
        OutboxRelay relay = relay(recorder, hours);

        while (relay.runOnce() > 0) {
            // as a scheduler does
        }

        assertThat(recorder.keys()).containsExactly("c:1");
        assertThat(relay.stats().failed()).isEqualTo(2);
    }

    @Test
    void an_event_that_fails_too_often_is_a_dead_letter_and_its_aggregate_waits() throws Exception {
        append("acme", event("a", 1), event("a", 2), event("b", 1));
        recorder.answer(
                e ->
                        e.key().equals("a:1")
                                ? PublishResult.failed("bad")
                                : PublishResult.published());
        OutboxRelay relay = relay(recorder, quick());
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return relay.stats().dead() == 1;
                },
                "the event is dead");
        append("acme", event("a", 3));
        for (int i = 0; i < 3; i++) {
            relay.runOnce();
        }

        assertThat(recorder.keys()).containsExactly("b:1");
        assertThat(state(0)).as("those that wait leave the ready index").isZero();
        assertThat(state(3)).isEqualTo(2);
        try (Connection connection = db.connect()) {
            List<DeadLetter> letters = once.deadLetters().list(connection, 10);
            assertThat(letters).hasSize(1);
            assertThat(letters.get(0).error()).isEqualTo("bad");
            assertThat(letters.get(0).event().key()).isEqualTo("a:1");
            recorder.answer(e -> PublishResult.published());
            assertThat(once.deadLetters().requeue(connection, "acme", "a:2")).isFalse();
            assertThat(once.deadLetters().requeue(connection, "acme", "a:1")).isTrue();
        }
        drain(relay);
        assertThat(recorder.keys()).containsExactly("b:1", "a:1", "a:2", "a:3");
    }

    @Test
    void a_discarded_dead_letter_lets_its_aggregate_go_on() throws Exception {
        append("acme", event("a", 1), event("a", 2));
        recorder.answer(
                e ->
                        e.key().equals("a:1")
                                ? PublishResult.failed("bad")
                                : PublishResult.published());
        OutboxRelay relay = relay(recorder, quick());
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return relay.stats().dead() == 1;
                },
                "the event is dead");
        try (Connection connection = db.connect()) {
            assertThat(once.deadLetters().discard(connection, "acme", "a:1")).isTrue();
        }
        drain(relay);
        assertThat(recorder.keys()).containsExactly("a:2");
        assertThat(state(4)).isEqualTo(1);
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return db.count("SELECT COUNT(*) FROM onlyonce.outbox_blocked") == 0;
                },
                "nothing is left of its waiting");
    }

    @Test
    void others_pass_a_failed_event_if_they_may() throws Exception {
        append("acme", event("a", 1), event("a", 2), event("a", 3));
        recorder.answer(
                e ->
                        e.key().equals("a:1")
                                ? PublishResult.failed("bad")
                                : PublishResult.published());
        OutboxRelay relay = relay(recorder, quick().othersPass());
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return relay.stats().dead() == 1 && relay.stats().published() == 2;
                },
                "the others have passed");
        try (Connection connection = db.connect()) {
            recorder.answer(e -> PublishResult.published());
            assertThat(once.deadLetters().requeue(connection, "acme", "a:1")).isTrue();
        }
        drain(relay);
        assertThat(recorder.keys()).containsExactly("a:2", "a:3", "a:1");
    }

    @Test
    void an_outage_charges_nobody_and_ends_by_itself() throws Exception {
        for (int n = 1; n <= 10; n++) {
            append("acme", event("a", n), event("b", n), event("c" + n, 1));
        }
        recorder.answer(
                e -> {
                    throw new IllegalStateException("the broker is away");
                });
        OutboxRelay relay = relay(recorder, quick());
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return relay.stats().failedCalls() > 100;
                },
                "many calls have failed");
        assertThat(relay.stats().failed()).isZero();
        assertThat(relay.stats().dead()).isZero();
        assertThat(db.count("SELECT MAX(attempts) FROM onlyonce.outbox_event")).isZero();

        recorder.answer(e -> PublishResult.published());
        drain(relay);
        assertThat(recorder.keys().stream().filter(k -> k.startsWith("a")))
                .containsExactlyElementsOf(keys("a", 10));
        assertThat(recorder.keys()).hasSize(30);
    }

    @Test
    void a_poisonous_event_is_found_and_no_innocent_one_is_charged() throws Exception {
        for (int n = 1; n <= 100; n++) {
            append("acme", event("a" + n, 1), event("a" + n, 2));
        }
        recorder.answer(
                e -> {
                    if (e.key().equals("a42:1")) {
                        throw new IllegalStateException("poison");
                    }
                    return PublishResult.published();
                });
        OutboxRelay relay = relay(recorder, quick());
        var more = new AtomicInteger();
        Await.until(
                LONG,
                () -> { // others go on, which proves that the publisher works
                    append("acme", event("more", more.incrementAndGet()));
                    relay.runOnce();
                    return relay.stats().dead() == 1;
                },
                "the culprit is found");

        try (Connection connection = db.connect()) {
            assertThat(once.deadLetters().list(connection, 10))
                    .extracting(letter -> letter.event().key())
                    .containsExactly("a42:1");
        }
        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.outbox_event WHERE attempts > 0 AND"
                                        + " event_key <> 'a42:1'"))
                .isZero();
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return recorder.keys().containsAll(keysOfAllBut42());
                },
                "everything else is published");
    }

    private static List<String> keysOfAllBut42() {
        List<String> keys = new ArrayList<>();
        for (int n = 1; n <= 100; n++) {
            if (n != 42) {
                keys.add("a" + n + ":1");
                keys.add("a" + n + ":2");
            }
        }
        return keys;
    }

    @Test
    void answers_that_do_not_match_charge_nobody() throws Exception {
        append("acme", event("a", 1));
        OutboxRelay relay = relay(events -> List.of(), quick());
        Await.until(
                LONG,
                () -> {
                    relay.runOnce();
                    return relay.stats().failedCalls() >= 3;
                },
                "three calls have failed");
        assertThat(relay.stats().failed()).isZero();
    }

    @Test
    void deleting_leaves_no_rows() throws Exception {
        OnlyOnce deleting =
                OnlyOnce.on(db.pool(4)).withoutExpiry().withOutbox(OutboxMode.DELETE).build();
        append("acme", event("a", 1), event("a", 2));
        recorder.answer(
                e ->
                        e.delivery().attempt() == 1 && e.key().equals("a:1")
                                ? PublishResult.failed("once")
                                : PublishResult.published());
        OutboxRelay relay = deleting.relay(recorder, quick());
        relays.add(relay);
        drain(relay);

        assertThat(recorder.keys()).containsExactly("a:1", "a:2");
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.outbox_event")).isZero();
    }

    @Test
    void in_cdc_mode_rows_are_published_from_the_start_and_no_relay_runs() throws Exception {
        OnlyOnce cdc = OnlyOnce.on(db.pool(4)).withoutExpiry().withOutbox(OutboxMode.CDC).build();
        cdc.transactions().execute(c -> cdc.outbox().append(c, "acme", event("a", 1)));

        assertThat(state(1)).isEqualTo(1);
        assertThatThrownBy(() -> cdc.relay(recorder))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("CDC");
    }

    @Test
    void two_relays_share_the_buckets_and_a_stopped_one_gives_its_back() throws Exception {
        OutboxRelay one =
                relay(recorder, quick().withLease(Duration.ofMillis(600), Duration.ofMillis(100)));
        OutboxRelay two =
                relay(recorder, quick().withLease(Duration.ofMillis(600), Duration.ofMillis(100)));
        one.start();
        Await.until(LONG, () -> one.stats().buckets() == 64, "the first owns all");
        two.start();
        Await.until(
                LONG,
                () -> one.stats().buckets() == 32 && two.stats().buckets() == 32,
                "they share");
        for (int n = 1; n <= 50; n++) {
            append("acme", event("a" + n, 1));
        }
        Await.until(LONG, () -> recorder.keys().size() == 50, "all is published");
        assertThat(one.stop(LONG)).isTrue();
        Await.until(LONG, () -> two.stats().buckets() == 64, "the second owns all");
        assertThat(one.isStopped()).isTrue();
        assertThatThrownBy(one::start).hasMessageContaining("make a new one");
    }

    @Test
    void a_started_relay_is_woken_paused_resumed_and_stopped() throws Exception {
        RelayOptions asleep =
                RelayOptions.standard()
                        .withLease(Duration.ofHours(3), Duration.ofSeconds(10))
                        .withPoll(Duration.ofHours(1));
        OutboxRelay relay = relay(recorder, asleep);
        relay.start();
        relay.start();
        Await.until(LONG, () -> relay.stats().buckets() == 64, "it owns all");
        append("acme", event("a", 1));
        Await.until(LONG, () -> recorder.keys().size() == 1, "a commit wakes it");

        relay.pause();
        assertThat(relay.isPaused()).isTrue();
        Await.until(LONG, () -> relay.stats().buckets() == 0, "it gives its buckets up");
        append("acme", event("a", 2));
        assertThat(relay.runOnce()).isZero();
        relay.resume();
        Await.until(LONG, () -> recorder.keys().size() == 2, "it goes on");
        assertThat(relay.stop(LONG)).isTrue();
        assertThat(relay.runOnce()).isZero();
    }

    @Test
    void a_publisher_that_hangs_is_left_and_stop_returns_by_its_deadline() throws Exception {
        var hang = new CountDownLatch(1);
        append("acme", event("hangs", 1));
        for (int n = 1; n <= 10; n++) {
            append("acme", event("a" + n, 1));
        }
        EventPublisher publisher =
                events -> {
                    if (events.stream().anyMatch(e -> e.key().equals("hangs:1"))) {
                        while (true) {
                            try {
                                if (hang.await(60, TimeUnit.SECONDS)) {
                                    break;
                                }
                            } catch (InterruptedException e) {
                                continue; // deaf
                            }
                        }
                    }
                    return recorder.publish(events);
                };
        OutboxRelay relay =
                relay(publisher, quick().withLease(Duration.ofSeconds(10), Duration.ofMillis(50)));
        relay.start();
        Await.until(LONG, relay::isPaused, "it pauses itself");
        assertThat(relay.stats().abandonedCalls()).isEqualTo(Calls.MAX_ABANDONED);
        assertThat(relay.stop(Duration.ofMillis(500))).isFalse();
        hang.countDown();
        Await.until(LONG, () -> relay.stats().abandonedCalls() == 0, "the threads end");
    }

    @Test
    void options_that_cannot_work_are_refused() {
        assertThatThrownBy(
                        () ->
                                RelayOptions.standard()
                                        .withLease(Duration.ofSeconds(10), Duration.ofSeconds(6)))
                .hasMessageContaining("half of the lease");
        assertThatThrownBy(() -> RelayOptions.standard().withBatch(0))
                .hasMessageContaining("batch");
        assertThatThrownBy(
                        () ->
                                RelayOptions.standard()
                                        .withAttempts(
                                                0, Duration.ofMillis(1), Duration.ofMillis(1)))
                .hasMessageContaining("attempts");
        assertThatThrownBy(
                        () ->
                                RelayOptions.standard()
                                        .withAttempts(
                                                1, Duration.ofMillis(2), Duration.ofMillis(1)))
                .hasMessageContaining("maxBackoff");
        assertThatThrownBy(() -> RelayOptions.standard().withPoll(Duration.ZERO))
                .hasMessageContaining("poll");
    }
}
