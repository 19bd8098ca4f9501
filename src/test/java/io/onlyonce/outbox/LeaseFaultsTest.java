package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.sql.Database;
import io.onlyonce.sql.SchemaName;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** Relays that act on what is no longer theirs. */
class LeaseFaultsTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    private final Recorder recorder = new Recorder();
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

    private void append(OutboxEvent... events) throws SQLException {
        once.transactions().execute(c -> once.outbox().append(c, "acme", List.of(events)));
    }

    private long stuck() throws SQLException {
        return db.count(
                """
                SELECT count(*) FROM onlyonce.outbox_event e WHERE state = 3 AND NOT EXISTS (
                    SELECT FROM onlyonce.outbox_blocked b WHERE b.aggregate_id = e.aggregate_id)
                """);
    }

    @Test
    void buckets_taken_by_a_commit_whose_answer_was_lost_are_taken_again_at_once()
            throws Exception {
        try (Connection connection = db.connect()) {
            var leases =
                    new Leases(
                            Database.of(connection),
                            SchemaName.DEFAULT,
                            "one",
                            Duration.ofHours(1));
            Map<Integer, Long> lost = leases.keep(connection, Map.of(), true);

            Map<Integer, Long> again = leases.keep(connection, Map.of(), true);

            assertThat(again).hasSize(64);
            assertThat(again.get(0)).isGreaterThan(lost.get(0));
            assertThat(leases.keep(connection, again, true)).isEqualTo(again);
        }
    }

    @Test
    void a_relay_that_stops_before_it_owned_a_bucket_is_not_counted_any_more() throws Exception {
        try (OutboxRelay one = once.relay(recorder)) {
            one.runOnce();
            OutboxRelay two = once.relay(recorder);
            two.runOnce();
            assertThat(two.stats().buckets()).isZero();

            assertThat(two.stop(LONG)).isTrue();

            assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_relay"))
                    .as("the first would give up half of its buckets for nobody")
                    .isEqualTo(1);
        }
    }

    @Test
    void a_relay_that_polls_seldom_keeps_its_leases() throws Exception {
        RelayOptions options =
                RelayOptions.standard()
                        .withLease(Duration.ofMillis(900), Duration.ofMillis(450))
                        .withPoll(Duration.ofHours(1));
        try (OutboxRelay relay = once.relay(recorder, options)) {
            relay.start();
            Await.until(LONG, () -> relay.stats().buckets() == 64, "it owns all");
            db.execute("CREATE TABLE begin AS SELECT clock_timestamp() AS at");
            Await.until(
                    LONG,
                    () ->
                            db.count(
                                            "SELECT count(*) FROM onlyonce.outbox_lease, begin"
                                                    + " WHERE expires_at > at + interval '2 s'")
                                    == 64,
                    "they are renewed");

            assertThat(db.count("SELECT max(token) FROM onlyonce.outbox_lease")).isEqualTo(1);
            assertThat(relay.stats().leasesLost()).isZero();
        }
    }

    @Test
    void a_relay_without_the_lease_lets_no_aggregate_go_on() throws Exception {
        append(RelayContract.event("a", 2));
        db.execute(
                """
                INSERT INTO onlyonce.outbox_blocked (blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
                SELECT now(), bucket, true, 'a', 'Case', 'acme' FROM onlyonce.outbox_event
                """);
        int bucket = (int) db.count("SELECT bucket FROM onlyonce.outbox_event");
        try (Connection heir = db.connect();
                Connection late = db.connect()) {
            var store = RelayStore.of(Database.of(late), SchemaName.DEFAULT, OutboxMode.KEEP);
            var due = store.fetch(late, "", List.of(bucket), 10).due();
            heir.setAutoCommit(false);
            heir.createStatement().execute("UPDATE onlyonce.outbox_event SET state = 3");

            store.settle(
                    late,
                    Map.of(bucket, 7L),
                    new RelayStore.Settlement(List.of(), List.of(), List.of(), due, true));

            heir.commit();
        }
        assertThat(stuck()).as("waiting, and nobody knows").isZero();
    }

    @Test
    void events_fetched_under_an_earlier_lease_are_not_offered() throws Exception {
        append(RelayContract.event("a", 1));
        RelayOptions options =
                RelayOptions.standard()
                        .withLease(Duration.ofMillis(900), Duration.ofMillis(450))
                        .withAttempts(2, Duration.ofMillis(1), Duration.ofMillis(1));
        var isAway = new AtomicBoolean(false);
        EventPublisher publisher =
                events -> {
                    if (events.get(0).aggregateId().equals("b")) {
                        beAway();
                        isAway.set(true);
                        return recorder.publish(events);
                    }
                    assertThat(isAway).as("a:1 was published meanwhile").isFalse();
                    return List.of(PublishResult.failed("no"));
                };
        try (OutboxRelay relay = once.relay(publisher, options)) {
            relay.runOnce();
            append(RelayContract.event("b", 1));
            Await.until(
                    LONG,
                    () ->
                            db.count(
                                            "SELECT count(*) FROM onlyonce.outbox_blocked WHERE"
                                                    + " blocked_until <= clock_timestamp()")
                                    == 1,
                    "a:1 is due");

            relay.runOnce();

            assertThat(relay.stats().failed()).isEqualTo(1);
            assertThat(relay.stats().dead()).isZero();
            assertThat(relay.stats().failedCalls()).isZero();
            assertThat(
                            db.count(
                                    "SELECT count(*) FROM onlyonce.outbox_blocked WHERE"
                                            + " blocked_until = 'infinity'"))
                    .as("blocked for ever without a dead letter")
                    .isZero();
        }
    }

    @Test
    void without_the_lease_nothing_is_charged_and_nothing_counted() throws Exception {
        append(RelayContract.event("a", 1));
        EventPublisher publisher =
                events -> {
                    db.execute("UPDATE onlyonce.outbox_lease SET token = token + 1");
                    return List.of(PublishResult.failed("no"));
                };
        RelayOptions options =
                RelayOptions.standard().withAttempts(1, Duration.ofMillis(1), Duration.ofMillis(1));
        try (OutboxRelay relay = once.relay(publisher, options)) {
            assertThat(relay.runOnce()).isZero();

            assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_event WHERE state = 0"))
                    .isEqualTo(1);
            assertThat(relay.stats().failed()).isZero();
            assertThat(relay.stats().dead()).isZero();
        }
    }

    /** Another relay has the buckets for a while, publishes a:1 and leaves. */
    private void beAway() throws Exception {
        Await.until(
                LONG,
                () ->
                        db.count(
                                        "SELECT count(*) FROM onlyonce.outbox_lease WHERE"
                                            + " expires_at > clock_timestamp() + interval '550 ms'")
                                == 0,
                "the leases are to be renewed");
        db.execute(
                "UPDATE onlyonce.outbox_lease SET token = token + 1, owner = NULL, expires_at ="
                        + " '-infinity'");
        db.execute(
                "UPDATE onlyonce.outbox_event SET state = 1, settled_at = now() WHERE event_key ="
                        + " 'a:1'");
    }
}
