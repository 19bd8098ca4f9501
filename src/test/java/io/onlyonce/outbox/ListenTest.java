package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;

/** A relay that listens hears of other processes' commits, also after it lost its connection. */
class ListenTest extends DatabaseContract {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String LISTENING =
            "SELECT count(*) FROM pg_stat_activity WHERE query = 'LISTEN onlyonce_outbox' AND"
                    + " datname = current_database()";

    ListenTest() {
        super(TestDatabase::postgres);
    }

    @Test
    void commits_elsewhere_wake_it_also_after_a_lost_connection() throws Exception {
        Schema.apply(db.dataSource());
        OnlyOnce here = OnlyOnce.on(db.pool(4)).withoutExpiry().build();
        OnlyOnce elsewhere = OnlyOnce.on(db.pool(2)).withoutExpiry().withNotify().build();
        var recorder = new Recorder();
        try (OutboxRelay relay =
                here.relay(
                        recorder,
                        RelayOptions.standard()
                                .withLease(Duration.ofHours(3), Duration.ofSeconds(10))
                                .withPoll(Duration.ofHours(1))
                                .listening())) {
            relay.start();
            Await.until(
                    LONG,
                    () -> db.count(LISTENING) == 1 && relay.stats().buckets() == 64,
                    "it listens");
            append(elsewhere, 1);
            Await.until(LONG, () -> recorder.keys().size() == 1, "it has heard");
            elsewhere
                    .transactions()
                    .execute(c -> elsewhere.outbox().append(c, "t", List.of(event(2), event(3))));
            Await.until(LONG, () -> recorder.keys().size() == 3, "it has heard again");
        }
        Await.until(LONG, () -> db.count(LISTENING) == 0, "nothing is left listening");
    }

    @Test
    void a_terminated_listener_listens_again() throws Exception {
        Schema.apply(db.dataSource());
        OnlyOnce here = OnlyOnce.on(db.pool(4)).withoutExpiry().build();
        OnlyOnce elsewhere = OnlyOnce.on(db.pool(2)).withoutExpiry().withNotify().build();
        var recorder = new Recorder();
        try (OutboxRelay relay =
                here.relay(
                        recorder,
                        RelayOptions.standard().withPoll(Duration.ofMillis(50)).listening())) {
            relay.start();
            Await.until(LONG, () -> db.count(LISTENING) == 1, "it listens");
            long pid =
                    db.count(
                            "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND"
                                    + " datname = current_database()");
            db.execute("SELECT pg_terminate_backend(" + pid + ")");
            Await.until(
                    LONG,
                    () -> db.count(LISTENING + " AND pid <> " + pid) == 1,
                    "it listens again");
            append(elsewhere, 10);
            Await.until(LONG, () -> recorder.keys().contains("n:10"), "it has heard");
        }
    }

    @Test
    void h2_cannot_notify() throws Exception {
        try (TestDatabase h2 = TestDatabase.h2()) {
            Schema.apply(h2.dataSource());
            OnlyOnce once = OnlyOnce.on(h2.dataSource()).withoutExpiry().withNotify().build();
            append(once, 1);
            assertThatThrownBy(
                            () -> once.relay(new Recorder(), RelayOptions.standard().listening()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the relay polls");
            assertThat(h2.count("SELECT COUNT(*) FROM onlyonce.outbox_event")).isEqualTo(1);
        }
    }

    private static OutboxEvent event(int n) {
        return OutboxEvent.of("n:" + n, "Case", "n", "Changed", Markers.MARK.getBytes());
    }

    private static void append(OnlyOnce once, int n) throws Exception {
        once.transactions().execute(c -> once.outbox().append(c, "t", event(n)));
    }
}
