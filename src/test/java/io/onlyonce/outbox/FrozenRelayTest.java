package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.AbstractList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** A relay whose process stands still for longer than its lease. */
class FrozenRelayTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final int EVENTS = 5;

    private final CountDownLatch mayAnswer = new CountDownLatch(1);
    private final CountDownLatch isCalled = new CountDownLatch(1);
    private TestDatabase db;
    private OnlyOnce once;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(db.pool(8)).withoutExpiry().build();
        for (int n = 1; n <= EVENTS; n++) {
            OutboxEvent event =
                    OutboxEvent.of("a:" + n, "Case", "a", "Changed", Markers.MARK.getBytes())
                            .withVersion(n);
            once.transactions().execute(c -> once.outbox().append(c, "acme", event));
        }
    }

    @AfterEach
    void close() throws Exception {
        mayAnswer.countDown();
        db.close();
    }

    @Test
    void a_relay_frozen_inside_its_publisher_marks_nothing_when_it_wakes() throws Exception {
        frozenAt("publishing");
    }

    @Test
    void a_relay_frozen_between_answer_and_mark_is_refused_the_mark() throws Exception {
        RelayStats stats = frozenAt("marking");

        assertThat(stats.unmarked()).as("delivered, and not marked by it").isEqualTo(EVENTS);
    }

    /** Another relay owns the buckets and is inside its own publisher when the first one wakes. */
    private RelayStats frozenAt(String place) throws Exception {
        try (var child = ChildJvm.start(Frozen.class, db.url(), db.user(), db.password(), place);
                OutboxRelay heir = once.relay(this::publish, RelayOptions.standard())) {
            child.awaitCheckpoint(place);
            child.freeze();
            heir.start();
            assertThat(isCalled.await(30, TimeUnit.SECONDS)).as("the heir took over").isTrue();

            child.thaw();
            child.proceed();
            child.awaitCheckpoint("woken");

            assertThat(unpublished()).as("the frozen relay marked nothing").isEqualTo(EVENTS);
            mayAnswer.countDown();
            Await.until(LONG, () -> unpublished() == 0, "the heir marks them");
            assertThat(heir.stats().published()).isEqualTo(EVENTS);
            assertThat(heir.stats().unmarked()).isZero();
            child.proceed();
            return stats(child.awaitLine("frozen relay: "));
        }
    }

    private RelayStats stats(String line) {
        System.out.println(line);
        long[] n =
                Pattern.compile("\\d+")
                        .matcher(line)
                        .results()
                        .mapToLong(m -> Long.parseLong(m.group()))
                        .toArray();
        var stats = new RelayStats(n[0], n[1], n[2], n[3], n[4], n[5], (int) n[6], (int) n[7]);
        assertThat(stats.published()).isZero();
        assertThat(stats.failed()).isZero();
        assertThat(stats.leasesLost()).as("all of its buckets").isEqualTo(64);
        return stats;
    }

    private long unpublished() throws Exception {
        return db.count(
                "SELECT count(*) FROM onlyonce.outbox_event WHERE state = 0 AND settled_at IS"
                        + " NULL");
    }

    private List<PublishResult> publish(List<OutboxEvent> events) throws InterruptedException {
        isCalled.countDown();
        mayAnswer.await();
        return answers(events);
    }

    private static List<PublishResult> answers(List<OutboxEvent> events) {
        return Collections.nCopies(events.size(), PublishResult.published());
    }

    /** Arguments: URL, user, password, and where it is to be frozen. */
    static final class Frozen {
        public static void main(String[] args) throws Exception {
            Duration lease = Duration.ofMillis(1500);
            EventPublisher publisher =
                    args[3].equals("marking")
                            ? FrozenWhenRead::new
                            : events -> {
                                Checkpoint.reached("publishing");
                                return answers(events);
                            };
            OutboxRelay relay =
                    OnlyOnce.on(DataSources.unpooled(args[0], args[1], args[2]))
                            .withoutExpiry()
                            .build()
                            .relay(
                                    publisher,
                                    RelayOptions.standard().withLease(lease, lease.dividedBy(2)));
            relay.runOnce();
            Checkpoint.reached("woken");
            relay.runOnce(); // notices that it was away
            System.out.println("frozen relay: " + relay.stats());
        }
    }

    /** Answers that stop the relay's own thread, after the call and before the mark. */
    private static final class FrozenWhenRead extends AbstractList<PublishResult> {
        private final int size;
        private boolean wasRead;

        FrozenWhenRead(List<OutboxEvent> events) {
            size = events.size();
        }

        @Override
        public PublishResult get(int index) {
            if (!wasRead) {
                wasRead = true;
                try {
                    Checkpoint.reached("marking");
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return PublishResult.published();
        }

        @Override
        public int size() {
            return size;
        }
    }
}
