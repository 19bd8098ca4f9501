package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** A relay beside a transaction that appends an event once more and stays open. */
class StrangerTest {

    private static final RelayOptions OPTIONS =
            RelayOptions.standard().withAttempts(5, Duration.ofMillis(1), Duration.ofMillis(1));

    private final Recorder recorder = new Recorder();
    private TestDatabase db;
    private OnlyOnce once;
    private Connection stranger;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(db.pool(8)).withoutExpiry().build();
        stranger = db.connect();
        stranger.setAutoCommit(false);
        append(RelayContract.event("a", 1), RelayContract.event("b", 1));
    }

    @AfterEach
    void close() throws Exception {
        stranger.close();
        db.close();
    }

    private void append(OutboxEvent... events) throws SQLException {
        once.transactions().execute(c -> once.outbox().append(c, "acme", List.of(events)));
    }

    private void appendOnceMore() throws SQLException {
        assertThat(once.outbox().append(stranger, "acme", RelayContract.event("a", 1)))
                .isEqualTo(AppendResult.DUPLICATE);
    }

    /** Fails if the round waits for the stranger. */
    private int round(OutboxRelay relay) throws Exception {
        var round = new FutureTask<>(relay::runOnce);
        var thread = new Thread(round);
        thread.setDaemon(true);
        thread.start();
        return round.get(10, TimeUnit.SECONDS);
    }

    private long count(String where) throws SQLException {
        return db.count("SELECT count(*) FROM onlyonce.outbox_event WHERE " + where);
    }

    @ParameterizedTest
    @EnumSource(names = {"KEEP", "DELETE"})
    void it_marks_the_others_and_delivers_that_one_once_more(OutboxMode mode) throws Exception {
        OnlyOnce chosen = OnlyOnce.on(db.pool(4)).withoutExpiry().withOutbox(mode).build();
        try (OutboxRelay relay = chosen.relay(recorder, OPTIONS)) {
            appendOnceMore();

            assertThat(round(relay)).isEqualTo(1);
            assertThat(count("state = 0")).as("that one").isEqualTo(1);
            assertThat(relay.stats().unmarked()).isEqualTo(1);

            stranger.commit();
            assertThat(round(relay)).isEqualTo(1);
            assertThat(count("state = 0")).isZero();
        }
        assertThat(recorder.keys()).containsExactly("a:1", "b:1", "a:1");
    }

    @Test
    void it_charges_the_others_and_that_one_when_it_is_free() throws Exception {
        recorder.answer(event -> PublishResult.failed("no"));
        try (OutboxRelay relay = once.relay(recorder, OPTIONS)) {
            appendOnceMore();

            assertThat(round(relay)).isEqualTo(1);
            assertThat(count("attempts = 1")).isEqualTo(1);
            assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_blocked")).isEqualTo(1);

            stranger.commit();
            round(relay);
            assertThat(count("attempts > 0")).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"KEEP", "DELETE"})
    void what_waited_is_delivered_once_more_and_still_before_those_behind_it(OutboxMode mode)
            throws Exception {
        OnlyOnce chosen = OnlyOnce.on(db.pool(4)).withoutExpiry().withOutbox(mode).build();
        append(RelayContract.event("a", 2));
        recorder.answer(
                event ->
                        event.key().equals("a:1") && event.delivery().attempt() == 1
                                ? PublishResult.failed("no")
                                : PublishResult.published());
        try (OutboxRelay relay = chosen.relay(recorder, OPTIONS)) {
            round(relay);
            assertThat(recorder.keys()).containsExactly("b:1");
            appendOnceMore();

            for (int n = 0; n < 20 && recorder.keys().size() < 4; n++) {
                round(relay);
            }
            stranger.commit();
            while (round(relay) > 0 || count("state IN (0, 3)") > 0) {
                // until all is marked
            }
        }
        assertThat(recorder.keys().stream().distinct()).containsExactly("b:1", "a:1", "a:2");
        assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_blocked")).isZero();
    }
}
