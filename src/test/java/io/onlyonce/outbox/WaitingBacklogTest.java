package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** What a poll reads, in pages, while a whole backlog waits behind one dead letter. */
class WaitingBacklogTest {

    private static final Duration LONG = Duration.ofMinutes(10);

    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(db.pool(8)).withoutExpiry().build();
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    @Test
    void a_poll_reads_a_few_pages_however_many_events_wait_behind_a_dead_letter() throws Exception {
        waitBehindOneDeadLetter(20_000);
    }

    @Test
    @Tag("long")
    void a_poll_reads_a_few_pages_with_300_000_events_behind_a_dead_letter() throws Exception {
        waitBehindOneDeadLetter(300_000);
    }

    @Test
    void a_held_snapshot_does_not_stop_the_drain() throws Exception {
        drainBelowSnapshot(10_000);
    }

    @Test
    @Tag("long")
    void a_held_snapshot_does_not_stop_the_drain_of_a_hundred_thousand() throws Exception {
        drainBelowSnapshot(100_000);
    }

    private void drainBelowSnapshot(int events) throws Exception {
        double free = drainSeconds("free", events);
        try (Connection reader = db.connect()) {
            reader.setAutoCommit(false);
            reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            reader.createStatement().execute("SELECT count(*) FROM onlyonce.outbox_event");

            double held = drainSeconds("held", events);

            System.out.printf(
                    "%d events drained in %.1f s, below a held snapshot in %.1f s%n",
                    events, free, held);
            reader.rollback();
        }
    }

    private double drainSeconds(String aggregates, int events) throws Exception {
        insert(aggregates + "' || n % 200 || '", events);
        var published = new AtomicLong();
        try (OutboxRelay relay = once.relay(counting(published), RelayOptions.standard())) {
            long start = System.nanoTime();
            Await.until(
                    LONG,
                    () -> {
                        while (relay.runOnce() > 0) {}
                        return published.get() >= events;
                    },
                    "the backlog is drained");
            assertThat(published).hasValue(events);
            return (System.nanoTime() - start) / 1e9;
        }
    }

    private static EventPublisher counting(AtomicLong published) {
        return events -> {
            published.addAndGet(events.size());
            return Collections.nCopies(events.size(), PublishResult.published());
        };
    }

    private void waitBehindOneDeadLetter(int events) throws Exception {
        append("stuck:0");
        RelayOptions options =
                RelayOptions.standard().withAttempts(1, Duration.ofMillis(1), Duration.ofMillis(1));
        try (OutboxRelay relay = once.relay(WaitingBacklogTest::refuseStuck, options)) {
            Await.until(
                    LONG,
                    () -> {
                        relay.runOnce();
                        return relay.stats().dead() == 1;
                    },
                    "the first is a dead letter");
            db.execute("VACUUM (ANALYZE) onlyonce.outbox_event");
            List<PollPages> before = polls();
            insert("stuck", events);
            Await.until(
                    LONG,
                    () -> {
                        while (relay.runOnce() > 0) {}
                        return waiting() == events;
                    },
                    "all wait");
            db.execute("VACUUM (ANALYZE) onlyonce.outbox_event"); // as autovacuum does
            List<PollPages> after = polls();

            System.out.printf(
                    "%d events wait; a poll reads %s, before %s%n",
                    events, pages(after), pages(before));
            for (PollPages poll : after) {
                assertThat(poll.plan()).doesNotContain("Seq Scan on outbox_event");
                assertThat(poll.pages()).as(poll.plan()).isLessThan(poll.buckets() == 1 ? 20 : 200);
            }
            assertThat(after.get(0).plan()).contains("outbox_event_ready");
            append("stranger:1");
            Await.until(LONG, () -> relay.runOnce() > 0, "others flow");
            assertThat(relay.stats().published()).isEqualTo(1);
        }
    }

    private static List<PublishResult> refuseStuck(List<OutboxEvent> events) {
        return events.stream()
                .map(
                        event ->
                                event.aggregateId().equals("stuck")
                                        ? PublishResult.failed("no")
                                        : PublishResult.published())
                .toList();
    }

    private long waiting() throws SQLException {
        return db.count("SELECT count(*) FROM onlyonce.outbox_event WHERE state = 3");
    }

    private void append(String key) throws SQLException {
        String aggregate = key.substring(0, key.indexOf(':'));
        var event = OutboxEvent.of(key, "Case", aggregate, "Changed", Markers.MARK.getBytes());
        once.transactions().execute(c -> once.outbox().append(c, "acme", event));
    }

    /** Many at once, in the bucket that the aggregate has. */
    private void insert(String aggregate, int events) throws SQLException {
        db.execute(
                """
                INSERT INTO onlyonce.outbox_event (event_id, bucket, event_key, tenant, aggregate_type, aggregate_id,
                    event_type, payload)
                SELECT gen_random_uuid(), coalesce((SELECT min(bucket) FROM onlyonce.outbox_blocked), n %% 200 %% 64),
                    '%1$s:' || n, 'acme', 'Case', '%1$s', 'Changed', '%3$s'
                FROM generate_series(1, %2$d) AS n
                """
                        .formatted(aggregate, events, Markers.MARK));
    }

    /** Of the bucket of the dead letter, then of all. */
    private List<PollPages> polls() throws SQLException {
        int bucket = (int) db.count("SELECT bucket FROM onlyonce.outbox_blocked");
        List<PollPages> polls = new ArrayList<>();
        try (Connection connection = db.connect()) {
            polls.addAll(PollPages.of(connection, List.of(bucket), 500));
            polls.addAll(PollPages.of(connection, IntStream.range(0, 64).boxed().toList(), 500));
        }
        return polls;
    }

    private static List<Long> pages(List<PollPages> polls) {
        return polls.stream().map(PollPages::pages).toList();
    }
}
