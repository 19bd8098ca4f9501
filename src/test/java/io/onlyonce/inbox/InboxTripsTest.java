package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Round trips, counted on the wire. */
class InboxTripsTest {

    private static final MessageWork<RuntimeException> NOTHING = incoming -> {};

    private TestDatabase db;
    private FaultProxy proxy;
    private HikariDataSource pool;
    private Inbox inbox;
    private int messages;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE effect (message text)");
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, 1);
        inbox = OnlyOnce.on(pool).withoutExpiry().build().inbox("trips");
    }

    @AfterEach
    void close() throws Exception {
        pool.close();
        proxy.close();
        db.close();
    }

    private Inbox at(Isolation isolation) {
        return inbox.withTransaction(TransactionOptions.readCommitted().withIsolation(isolation));
    }

    private InboxMessage message() {
        return InboxMessage.of("acme", "trips", Markers.MARK + ++messages, new byte[] {1});
    }

    private List<InboxMessage> messages(int count) {
        return IntStream.range(0, count).mapToObj(n -> message()).toList();
    }

    private static void effect(Connection connection) throws SQLException {
        try (var insert = connection.prepareStatement("INSERT INTO effect VALUES (?)")) {
            insert.setString(1, "x");
            insert.executeUpdate();
        }
    }

    private int bareTrips() throws SQLException {
        proxy.resetCounters();
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            effect(connection);
            connection.commit();
        }
        return proxy.roundTrips();
    }

    private int trips(List<InboxMessage> batch, MessageWork<?> work) {
        proxy.resetCounters();
        assertThat(inbox.processAll(batch, work).isDone()).isTrue();
        return proxy.flights().size();
    }

    @ParameterizedTest
    @EnumSource
    void a_fresh_message_costs_one_trip_more_than_the_bare_transaction(Isolation isolation)
            throws Exception {
        assertThat(bareTrips()).as("bare: insert, commit").isEqualTo(2);
        for (int events : new int[] {0, 1, 100}) {
            for (int warm = 0; warm < 7; warm++) { // before and after the driver prepares
                InboxMessage message = message();
                proxy.resetCounters();
                InboxAnswer answer =
                        at(isolation)
                                .process(
                                        message,
                                        incoming -> {
                                            effect(incoming.connection());
                                            for (int i = 0; i < events; i++) {
                                                incoming.outbox().append(event(message, i));
                                            }
                                        });
                assertThat(answer).isEqualTo(new InboxAnswer.Processed());
                assertThat(proxy.flights()).as("claim, insert, finish and commit").hasSize(3);
            }
        }
    }

    private static OutboxEvent event(InboxMessage message, int number) {
        return OutboxEvent.of(message.id() + ":" + number, "M", "m", "Processed", new byte[0]);
    }

    @ParameterizedTest
    @EnumSource
    void a_duplicate_costs_two_trips(Isolation isolation) throws Exception {
        InboxMessage message = message();
        at(isolation).process(message, NOTHING);
        for (int warm = 0; warm < 7; warm++) {
            proxy.resetCounters();
            assertThat(at(isolation).process(message, NOTHING))
                    .isEqualTo(new InboxAnswer.Duplicate());
            assertThat(proxy.flights()).as("claim, rollback").hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 100, 101, 250, 500})
    void a_batch_costs_two_trips_for_every_hundred(int size) throws Exception {
        int chunks = (size + 99) / 100;
        List<InboxMessage> batch = messages(size);
        assertThat(trips(batch, NOTHING)).as("fresh").isEqualTo(2 * chunks);
        assertThat(trips(batch, NOTHING)).as("duplicates").isEqualTo(2 * chunks);
        for (int warm = 0; warm < 7; warm++) {
            assertThat(trips(messages(size), NOTHING)).as("prepared").isEqualTo(2 * chunks);
        }
    }

    @Test
    void duplicates_among_fresh_ones_and_copies_cost_nothing_more() throws Exception {
        List<InboxMessage> known = messages(50);
        trips(known, NOTHING);
        List<InboxMessage> batch = new ArrayList<>(known);
        batch.addAll(messages(50));
        batch.addAll(batch.subList(0, 100));

        assertThat(trips(batch, NOTHING)).isEqualTo(2);
    }

    @Test
    void events_of_a_batch_travel_with_its_commit() throws Exception {
        int trips =
                trips(
                        messages(100),
                        incoming -> incoming.outbox().append(event(incoming.message(), 0)));

        assertThat(trips).isEqualTo(2);
        assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_event")).isEqualTo(100);
    }
}
