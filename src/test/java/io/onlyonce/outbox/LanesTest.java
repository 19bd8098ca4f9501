package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.sql.Database;
import io.onlyonce.sql.SchemaName;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A relay under a backlog, which works in two lanes. */
class LanesTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int AGGREGATES = 50;
    private static final int EACH = 20;
    private static final int BATCH = 10;
    private static final String SECOND = "onlyonce-relay-second";

    private final Recorder recorder = new Recorder();
    private final AtomicBoolean secondFails = new AtomicBoolean();
    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(HookedSource.of(db.pool(8), this::fail)).withoutExpiry().build();
        List<OutboxEvent> events = new ArrayList<>();
        for (int n = 1; n <= EACH; n++) {
            for (int aggregate = 0; aggregate < AGGREGATES; aggregate++) {
                events.add(RelayContract.event("a" + aggregate, n));
            }
        }
        once.transactions().execute(c -> once.outbox().append(c, "acme", events));
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    private void fail() {
        if (secondFails.get() && Thread.currentThread().getName().equals(SECOND)) {
            throw new IllegalStateException("no connection for the second lane");
        }
    }

    @Test
    void both_lanes_move_events_and_the_publisher_sees_one_call_at_a_time() throws Exception {
        var inside = new AtomicInteger();
        var most = new AtomicInteger();
        EventPublisher publisher =
                events -> {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                    try {
                        new CountDownLatch(1).await(5, TimeUnit.MILLISECONDS); // for the other
                        return recorder.publish(events);
                    } finally {
                        inside.decrementAndGet();
                    }
                };
        try (OutboxRelay relay = once.relay(publisher, RelayContract.quick().withBatch(BATCH))) {
            assertThat(relay.runOnce()).isEqualTo(BATCH);
            assertThat(relay.runOnce()).isEqualTo(2 * BATCH);
            while (relay.runOnce() > 0) {
                // until nothing is ready
            }
        }

        assertThat(most).hasValue(1);
        assertThat(recorder.keys()).hasSize(AGGREGATES * EACH).doesNotHaveDuplicates();
        Map<String, Long> last = new HashMap<>();
        for (OutboxEvent event : recorder.delivered) {
            long version = event.version().orElseThrow();
            assertThat(last.put(event.aggregateId(), version))
                    .as("before %s", event.key())
                    .isEqualTo(version == 1 ? null : version - 1);
        }
    }

    @Test
    void what_one_lane_cannot_do_is_told_and_the_other_has_done_its_part() throws Exception {
        try (OutboxRelay relay = once.relay(recorder, RelayContract.quick().withBatch(BATCH))) {
            relay.runOnce();
            secondFails.set(true);

            assertThatThrownBy(relay::runOnce).rootCause().hasMessageContaining("second lane");

            assertThat(relay.stats().published()).isEqualTo(2 * BATCH);
            secondFails.set(false);
            while (relay.runOnce() > 0) {
                // until nothing is ready
            }
        }
        assertThat(recorder.keys()).hasSize(AGGREGATES * EACH).doesNotHaveDuplicates();
    }

    @Test
    void stop_interrupts_both_lanes_and_nothing_is_published_after_it() throws Exception {
        var hang = new AtomicBoolean();
        var inside = new CountDownLatch(1);
        EventPublisher publisher =
                events -> {
                    if (hang.get()) {
                        inside.countDown();
                        new CountDownLatch(1).await();
                    }
                    return recorder.publish(events);
                };
        OutboxRelay relay = once.relay(publisher, RelayContract.quick().withBatch(BATCH));
        relay.runOnce();
        hang.set(true);
        relay.start();
        inside.await();

        relay.stop(Duration.ofSeconds(4));

        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain(SECOND, "onlyonce-relay");
        assertThat(recorder.keys()).hasSize(BATCH);
        assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_lease WHERE owner IS NOT NULL"))
                .isZero();
        Await.until(LONG, () -> relay.stats().abandonedCalls() == 0, "the call ends");
    }

    @Test
    void in_the_middle_of_a_round_leases_are_renewed_and_none_changes_hands() throws Exception {
        try (var connection = db.connect()) {
            var database = Database.of(connection);
            var one = new Leases(database, SchemaName.DEFAULT, "one", Duration.ofHours(1));
            var two = new Leases(database, SchemaName.DEFAULT, "two", Duration.ofHours(1));
            Map<Integer, Long> all = one.keep(connection, Map.of(), true);
            two.keep(connection, Map.of(), true);

            assertThat(one.keep(connection, all, false)).isEqualTo(all).hasSize(64);
            assertThat(one.keep(connection, all, true)).hasSize(32);
            assertThat(one.keep(connection, Map.of(), false)).isEmpty();
        }
    }

    @Test
    void a_newcomer_gets_its_share_between_rounds_and_not_from_a_lane_at_work() throws Exception {
        var slow = new AtomicBoolean();
        EventPublisher publisher =
                events -> {
                    if (slow.getAndSet(false)) { // until the leases are to be renewed
                        new CountDownLatch(1).await(2200, TimeUnit.MILLISECONDS);
                    }
                    return recorder.publish(events);
                };
        RelayOptions options =
                RelayOptions.standard()
                        .withBatch(BATCH)
                        .withLease(Duration.ofSeconds(6), Duration.ofSeconds(3));
        try (OutboxRelay relay = once.relay(publisher, options)) {
            relay.runOnce();
            db.execute("INSERT INTO onlyonce.outbox_relay VALUES ('infinity', 'newcomer')");
            slow.set(true);

            assertThat(relay.runOnce()).isEqualTo(2 * BATCH);
            assertThat(relay.stats().buckets()).isEqualTo(64);
            relay.runOnce();
            assertThat(relay.stats().buckets()).isEqualTo(32);
            assertThat(relay.stats().unmarked()).isZero();
        }
    }

    @Test
    void lanes_whose_leases_were_taken_mark_nothing() throws Exception {
        RelayOptions options = RelayContract.quick().withBatch(BATCH);
        try (OutboxRelay relay = once.relay(recorder, options)) {
            relay.runOnce();
            db.execute("UPDATE onlyonce.outbox_lease SET token = token + 1");

            relay.runOnce();

            assertThat(relay.stats().published()).isEqualTo(BATCH);
            assertThat(relay.stats().unmarked()).isEqualTo(2 * BATCH);
        }
    }
}
