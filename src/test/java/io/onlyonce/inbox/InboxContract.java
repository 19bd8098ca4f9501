package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Race;
import io.onlyonce.inbox.InboxAnswer.Deferred;
import io.onlyonce.inbox.InboxAnswer.Duplicate;
import io.onlyonce.inbox.InboxAnswer.InFlight;
import io.onlyonce.inbox.InboxAnswer.Processed;
import io.onlyonce.outbox.EventKeyReusedException;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.SwallowedSqlErrorException;
import io.onlyonce.tx.TransactionEndedByWorkException;
import io.onlyonce.tx.TransactionOptions;
import io.onlyonce.tx.TransactionRequiredException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What single messages are promised on every database. */
abstract class InboxContract extends DatabaseContract {

    protected OnlyOnce once;
    protected Inbox inbox;

    InboxContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openMailroom() throws Exception {
        Mailroom.open(db);
        once = Mailroom.once(db.pool(20));
        inbox = once.inbox("billing");
    }

    private static TransactionOptions at(Isolation isolation) {
        return switch (isolation) {
            case READ_COMMITTED -> TransactionOptions.readCommitted();
            case REPEATABLE_READ -> TransactionOptions.repeatableRead();
            case SERIALIZABLE -> TransactionOptions.serializable();
        };
    }

    private Connection begin() throws SQLException {
        Connection connection = db.connect();
        connection.setAutoCommit(false);
        return connection;
    }

    @ParameterizedTest
    @EnumSource
    void a_message_is_processed_once_and_then_a_duplicate(Isolation isolation) throws Exception {
        String id = Mailroom.id("twice");
        Inbox at = inbox.withTransaction(at(isolation));

        assertThat(at.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Processed());
        assertThat(at.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Duplicate());
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void of_many_deliveries_at_once_one_is_processed(Isolation isolation) throws Exception {
        String id = Mailroom.id("race");
        Inbox at = inbox.withTransaction(at(isolation));

        List<InboxAnswer> answers =
                Race.of(16, () -> at.process(Mailroom.message(id), Mailroom::apply));

        assertThat(answers).filteredOn(Processed.class::isInstance).hasSize(1);
        assertThat(answers).allMatch(a -> a.isDone() || a instanceof InFlight);
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @Test
    void while_it_is_being_processed_the_answer_is_in_flight_at_once() throws Exception {
        String id = Mailroom.id("slow");
        var begun = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        var answers =
                Race.<InboxAnswer>of(
                        List.of(
                                () ->
                                        inbox.process(
                                                Mailroom.message(id),
                                                incoming -> {
                                                    Mailroom.apply(incoming);
                                                    begun.countDown();
                                                    goOn.await(30, TimeUnit.SECONDS);
                                                }),
                                () -> {
                                    begun.await(30, TimeUnit.SECONDS);
                                    try {
                                        return inbox.process(Mailroom.message(id), Mailroom::apply);
                                    } finally {
                                        goOn.countDown();
                                    }
                                }));

        assertThat(answers.get(0)).isEqualTo(new Processed());
        assertThat(answers.get(1)).isInstanceOf(InFlight.class);
        assertThat(answers.get(1).isDone()).isFalse();
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @Test
    void another_payload_is_refused_and_nothing_applied() throws Exception {
        String id = Mailroom.id("other");
        inbox.process(Mailroom.message(id, "ten"), Mailroom::apply);

        assertThatThrownBy(() -> inbox.process(Mailroom.message(id, "eleven"), Mailroom::apply))
                .isInstanceOf(MessageIdentityViolationException.class)
                .hasMessageContaining("orders #")
                .hasMessageNotContaining(id);
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @Test
    void consumers_sources_and_tenants_have_ids_of_their_own() throws Exception {
        String id = Mailroom.id("own");
        byte[] payload = {1};
        inbox.process(Mailroom.message(id), Mailroom::apply);

        assertThat(once.inbox("audit").process(Mailroom.message(id), Mailroom::apply))
                .isEqualTo(new Processed());
        assertThat(inbox.process(InboxMessage.of("acme", "mail", id, payload), Mailroom::apply))
                .isEqualTo(new Processed());
        assertThat(inbox.process(InboxMessage.of("other", "orders", id, payload), Mailroom::apply))
                .isEqualTo(new Processed());
        assertThat(Mailroom.effects(db, id)).isEqualTo(4);
    }

    @Test
    void a_hash_of_ones_own_decides_what_the_same_payload_is() throws Exception {
        String id = Mailroom.id("json");
        inbox.process(
                Mailroom.message(id, "{\"a\":1,\"b\":2}")
                        .withHash(PayloadHash.ofJson("{\"a\":1,\"b\":2}")),
                Mailroom::apply);

        assertThat(
                        inbox.process(
                                Mailroom.message(id, "{\"b\":2,\"a\":1}")
                                        .withHash(PayloadHash.ofJson("{\"b\":2,\"a\":1}")),
                                Mailroom::apply))
                .isEqualTo(new Duplicate());
    }

    @Test
    void what_the_work_throws_comes_out_and_the_next_delivery_is_processed() throws Exception {
        String id = Mailroom.id("fails");

        assertThatThrownBy(
                        () ->
                                inbox.process(
                                        Mailroom.message(id),
                                        incoming -> {
                                            Mailroom.apply(incoming);
                                            throw new IOException("no");
                                        }))
                .isInstanceOf(IOException.class)
                .hasMessage("no");
        assertThat(Mailroom.effects(db, id)).isZero();
        assertThat(inbox.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Processed());
    }

    @Test
    void a_work_that_ends_the_transaction_by_text_is_not_processed() throws Exception {
        String id = Mailroom.id("commits");

        assertThatThrownBy(
                        () ->
                                inbox.process(
                                        Mailroom.message(id),
                                        incoming ->
                                                incoming.connection()
                                                        .createStatement()
                                                        .execute("ROLLBACK")))
                .isInstanceOf(TransactionEndedByWorkException.class);
        assertThat(inbox.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Processed());
    }

    @Test
    void a_swallowed_error_is_never_processed() throws Exception {
        String id = Mailroom.id("swallowed");
        MessageWork<SQLException> swallows =
                incoming -> {
                    Mailroom.apply(incoming);
                    try {
                        incoming.connection().createStatement().execute("SELECT 1 FROM nowhere");
                    } catch (SQLException e) {
                        // what users should not do
                    }
                };
        if (!db.isPostgres()) { // on H2 an error does not abort the transaction
            assertThat(inbox.process(Mailroom.message(id), swallows)).isEqualTo(new Processed());
            return;
        }

        assertThatThrownBy(() -> inbox.process(Mailroom.message(id), swallows))
                .isInstanceOf(SwallowedSqlErrorException.class);
        assertThat(inbox.processAll(List.of(Mailroom.message(id)), swallows).acknowledgeable())
                .isZero();
        assertThat(Mailroom.effects(db, id)).isZero();
        assertThat(inbox.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Processed());
    }

    @Test
    void events_of_the_work_are_appended_with_it() throws Exception {
        String id = Mailroom.id("events");
        var event = OutboxEvent.of("paid:" + id, "Order", id, "OrderPaid", new byte[] {1});
        MessageWork<SQLException> pays =
                incoming -> {
                    Mailroom.apply(incoming);
                    incoming.outbox().append(event);
                };

        inbox.process(Mailroom.message(id), pays);

        assertThat(events(id)).isEqualTo(1);
        inbox.process(Mailroom.message(id), pays);
        assertThat(events(id)).isEqualTo(1);

        String reused = Mailroom.id("reused");
        assertThatThrownBy(
                        () ->
                                inbox.process(
                                        Mailroom.message(reused),
                                        incoming ->
                                                incoming.outbox()
                                                        .append(
                                                                OutboxEvent.of(
                                                                        "paid:" + id,
                                                                        "Order",
                                                                        id,
                                                                        "OrderPaid",
                                                                        new byte[] {2}))))
                .isInstanceOf(EventKeyReusedException.class);
        assertThat(inbox.process(Mailroom.message(reused), Mailroom::apply))
                .isEqualTo(new Processed());
    }

    private long events(String id) throws SQLException {
        return db.count(
                "SELECT count(*) FROM onlyonce.outbox_event WHERE aggregate_id = '" + id + "'");
    }

    @Test
    void a_gap_ends_as_deferred_whatever_the_work_does_with_it() throws Exception {
        String id = Mailroom.id("gap");
        VersionGuard guard = once.versionGuard();

        InboxAnswer answer =
                inbox.process(
                        Mailroom.message(id),
                        incoming -> {
                            Mailroom.apply(incoming);
                            guard.advance(incoming.connection(), "list", "acme", "Case", id, 3);
                        });

        assertThat(answer).isEqualTo(new Deferred(1));
        assertThat(Mailroom.effects(db, id)).isZero();
        assertThat(inbox.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Processed());
    }

    @Test
    void a_work_may_defer_by_itself() throws Exception {
        String id = Mailroom.id("defers");

        assertThat(
                        inbox.process(
                                Mailroom.message(id),
                                incoming -> {
                                    throw new MessageDeferredException(7);
                                }))
                .isEqualTo(new Deferred(7));
    }

    // ---- the low road ----

    @Test
    void the_low_road_commits_with_the_callers_transaction() throws Exception {
        String id = Mailroom.id("low");
        try (Connection connection = begin()) {
            var started = (InboxClaim.Started) inbox.tryStart(connection, Mailroom.message(id));
            Mailroom.apply(connection, id);
            inbox.markProcessed(connection, started);
            connection.rollback();
            started = (InboxClaim.Started) inbox.tryStart(connection, Mailroom.message(id));
            Mailroom.apply(connection, id);
            inbox.markProcessed(connection, started);
            connection.commit();
            assertThat(inbox.tryStart(connection, Mailroom.message(id)))
                    .isEqualTo(new InboxClaim.Duplicate());
            connection.rollback();
        }

        assertThat(inbox.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Duplicate());
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @Test
    void both_roads_exclude_each_other() throws Exception {
        String id = Mailroom.id("both");
        try (Connection connection = begin()) {
            inbox.tryStart(connection, Mailroom.message(id));

            assertThat(inbox.process(Mailroom.message(id), Mailroom::apply))
                    .isInstanceOf(InFlight.class);
            assertThat(inbox.tryStart(connection, Mailroom.message(id)))
                    .isInstanceOf(InboxClaim.InFlight.class);
            try (Connection operator = begin()) {
                assertThat(inbox.settle(operator, Mailroom.message(id))).isFalse();
                assertThat(inbox.release(operator, Mailroom.message(id))).isFalse();
                operator.rollback();
            }
            connection.rollback();
        }
    }

    @Test
    void the_low_road_refuses_another_payload_and_autocommit() throws Exception {
        String id = Mailroom.id("low-other");
        inbox.process(Mailroom.message(id, "ten"), Mailroom::apply);
        try (Connection connection = begin()) {
            assertThatThrownBy(() -> inbox.tryStart(connection, Mailroom.message(id, "eleven")))
                    .isInstanceOf(MessageIdentityViolationException.class);
            connection.rollback();
            connection.setAutoCommit(true);
            assertThatThrownBy(() -> inbox.tryStart(connection, Mailroom.message(id)))
                    .isInstanceOf(TransactionRequiredException.class);
        }
    }

    @Test
    void a_claim_undone_to_a_savepoint_or_of_another_transaction_marks_nothing() throws Exception {
        String id = Mailroom.id("undone");
        try (Connection connection = begin()) {
            Savepoint before = connection.setSavepoint();
            var started = (InboxClaim.Started) inbox.tryStart(connection, Mailroom.message(id));
            connection.rollback(before);
            assertThatThrownBy(() -> inbox.markProcessed(connection, started))
                    .isInstanceOf(MessageClaimLostException.class);
            connection.rollback();
            assertThatThrownBy(() -> inbox.markProcessed(connection, started))
                    .isInstanceOf(MessageClaimLostException.class);
            connection.rollback();
        }
        assertThat(inbox.process(Mailroom.message(id), Mailroom::apply)).isEqualTo(new Processed());
    }

    @Test
    void a_claim_committed_without_its_mark_is_neither_processed_nor_run_again() throws Exception {
        for (boolean isThere : new boolean[] {true, false}) {
            String id = Mailroom.id("unfinished");
            try (Connection connection = begin()) {
                inbox.tryStart(connection, Mailroom.message(id));
                connection.commit();
                assertThatThrownBy(() -> inbox.process(Mailroom.message(id), Mailroom::apply))
                        .isInstanceOf(MessageUnfinishedException.class);
                assertThatThrownBy(() -> inbox.tryStart(connection, Mailroom.message(id)))
                        .isInstanceOf(MessageUnfinishedException.class);
                connection.rollback();
                assertThat(Mailroom.effects(db, id)).isZero();

                boolean settled =
                        isThere
                                ? inbox.settle(connection, Mailroom.message(id))
                                : inbox.release(connection, Mailroom.message(id));
                connection.commit();
                assertThat(settled).isTrue();
                assertThat(inbox.settle(connection, Mailroom.message(id))).isFalse();
                connection.rollback();
            }
            assertThat(inbox.process(Mailroom.message(id), Mailroom::apply))
                    .isEqualTo(isThere ? new Duplicate() : new Processed());
        }
    }

    @Test
    void bad_input_is_refused_before_the_database_is_touched() {
        assertThatThrownBy(() -> once.inbox("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> InboxMessage.of("", "s", "i", new byte[0]))
                .hasMessageContaining("tenant");
        assertThatThrownBy(() -> InboxMessage.of("t", "s".repeat(256), "i", new byte[0]))
                .hasMessageContaining("source");
        assertThatThrownBy(() -> InboxMessage.of("t", "s", "é", new byte[0]))
                .hasMessageContaining("message id");
    }

    @Test
    void two_messages_for_one_fact_are_caught_by_the_business_key() throws Exception {
        db.execute("CREATE TABLE payment (invoice varchar(40) PRIMARY KEY)");
        MessageWork<SQLException> pays =
                incoming -> {
                    try (var insert =
                            incoming.connection()
                                    .prepareStatement(
                                            "INSERT INTO payment SELECT ? WHERE NOT EXISTS (SELECT"
                                                    + " 1 FROM payment WHERE invoice = ?)")) {
                        insert.setString(1, "invoice-1");
                        insert.setString(2, "invoice-1");
                        if (insert.executeUpdate() == 1) {
                            Mailroom.apply(incoming.connection(), "invoice-1");
                        }
                    }
                };

        inbox.process(Mailroom.message(Mailroom.id("fact")), pays);
        inbox.process(Mailroom.message(Mailroom.id("fact")), pays);

        assertThat(Mailroom.effects(db, "invoice-1")).isEqualTo(1);
    }
}
