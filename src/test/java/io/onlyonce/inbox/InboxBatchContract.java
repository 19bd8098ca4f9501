package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.inbox.InboxAnswer.Deferred;
import io.onlyonce.inbox.InboxAnswer.Duplicate;
import io.onlyonce.inbox.InboxAnswer.Failed;
import io.onlyonce.inbox.InboxAnswer.IdentityViolation;
import io.onlyonce.inbox.InboxAnswer.InFlight;
import io.onlyonce.inbox.InboxAnswer.Processed;
import io.onlyonce.inbox.InboxAnswer.Skipped;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;
import io.onlyonce.outbox.RelayOptions;
import io.onlyonce.payload.UnsupportedHashVersionException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** What batches are promised on every database. */
abstract class InboxBatchContract extends DatabaseContract {

    private OnlyOnce once;
    private Inbox inbox;

    InboxBatchContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openMailroom() throws Exception {
        Mailroom.open(db);
        once = Mailroom.once(db.pool(4));
        inbox = once.inbox("billing");
    }

    private static List<InboxMessage> messages(String what, int count) {
        String id = Mailroom.id(what);
        return IntStream.range(0, count).mapToObj(i -> Mailroom.message(id + ":" + i)).toList();
    }

    /** Applies all but these. */
    private static MessageWork<SQLException> refusing(InboxMessage... guilty) {
        return incoming -> {
            Mailroom.apply(incoming);
            for (InboxMessage message : guilty) {
                if (message.id().equals(incoming.message().id())) {
                    throw new IllegalStateException("poison");
                }
            }
        };
    }

    private long effects(List<InboxMessage> messages) throws SQLException {
        long sum = 0;
        for (InboxMessage message : messages) {
            sum += Mailroom.effects(db, message.id());
        }
        return sum;
    }

    @Test
    void an_empty_batch_is_done() {
        assertThat(inbox.processAll(List.of(), Mailroom::apply).isDone()).isTrue();
    }

    @Test
    void hundreds_are_processed_once_each_and_then_duplicates() throws Exception {
        List<InboxMessage> messages = messages("many", 250);

        InboxBatch first = inbox.processAll(messages, Mailroom::apply);
        InboxBatch second = inbox.processAll(messages, Mailroom::apply);

        assertThat(first.answers()).hasSize(250).containsOnly(new Processed());
        assertThat(first.acknowledgeable()).isEqualTo(250);
        assertThat(second.answers()).hasSize(250).containsOnly(new Duplicate());
        assertThat(effects(messages)).isEqualTo(250);
    }

    @Test
    void copies_within_a_batch_are_duplicates_and_other_payloads_violations() throws Exception {
        InboxMessage message = Mailroom.message(Mailroom.id("copy"));
        InboxMessage other = Mailroom.message(message.id(), "other");

        InboxBatch batch =
                inbox.processAll(List.of(message, message, other, message), Mailroom::apply);

        assertThat(batch.answers())
                .containsExactly(
                        new Processed(), new Duplicate(), new IdentityViolation(), new Duplicate());
        assertThat(batch.acknowledgeable()).isEqualTo(2);
        assertThat(Mailroom.effects(db, message.id())).isEqualTo(1);
    }

    @Test
    void a_copy_that_matches_what_is_stored_is_a_duplicate_also_behind_one_that_does_not()
            throws Exception {
        InboxMessage message = Mailroom.message(Mailroom.id("behind-a-violation"));
        InboxMessage other = Mailroom.message(message.id(), "other");
        inbox.process(message, Mailroom::apply);

        InboxBatch batch = inbox.processAll(List.of(other, message, other), Mailroom::apply);

        assertThat(batch.answers())
                .containsExactly(new IdentityViolation(), new Duplicate(), new IdentityViolation());
        assertThat(Mailroom.effects(db, message.id())).isEqualTo(1);
    }

    @Test
    void a_copy_with_another_payload_is_processed_if_the_one_before_it_failed() throws Exception {
        InboxMessage message = Mailroom.message(Mailroom.id("behind-a-failure"));
        InboxMessage other = Mailroom.message(message.id(), "other");

        InboxBatch batch =
                inbox.processAll(
                        List.of(other, message, message, other),
                        incoming -> {
                            if (incoming.message().hash().equals(other.hash())) {
                                throw new IllegalStateException("torn");
                            }
                            Mailroom.apply(incoming);
                        });

        assertThat(batch.answers().get(0)).isInstanceOf(Failed.class);
        assertThat(batch.answers().subList(1, 3)).containsExactly(new Processed(), new Duplicate());
        assertThat(batch.answers().get(3).isDone()).isFalse();
        assertThat(Mailroom.effects(db, message.id())).isEqualTo(1);
    }

    @Test
    void a_copy_of_a_message_that_failed_has_its_answer() throws Exception {
        InboxMessage message = Mailroom.message(Mailroom.id("failing-copy"));

        InboxBatch batch = inbox.processAll(List.of(message, message), refusing(message));

        assertThat(batch.answers()).allMatch(Failed.class::isInstance);
        assertThat(Mailroom.effects(db, message.id())).isZero();
    }

    @Test
    void only_the_guilty_fail() throws Exception {
        List<InboxMessage> messages = messages("poison", 120);

        InboxBatch batch = inbox.processAll(messages, refusing(messages.get(7), messages.get(110)));

        assertThat(batch.answers()).filteredOn(Failed.class::isInstance).hasSize(2);
        assertThat(batch.answers()).filteredOn(Processed.class::isInstance).hasSize(118);
        assertThat(batch.answers().get(7)).isInstanceOf(Failed.class);
        assertThat(((Failed) batch.answers().get(7)).cause()).hasMessage("poison");
        assertThat(batch.acknowledgeable()).isEqualTo(7);
        assertThat(effects(messages)).isEqualTo(118);
    }

    @Test
    void after_a_failure_later_messages_of_its_key_are_skipped() throws Exception {
        List<InboxMessage> messages = new ArrayList<>();
        for (InboxMessage message : messages("keys", 230)) {
            messages.add(message.withOrderingKey("key-" + messages.size() % 2));
        }

        InboxBatch batch = inbox.processAll(messages, refusing(messages.get(4)));

        for (int i = 0; i < messages.size(); i++) {
            InboxAnswer expected =
                    i < 4 || i % 2 == 1 ? new Processed() : i == 4 ? null : new Skipped();
            if (expected != null) {
                assertThat(batch.answers().get(i)).as("message %d", i).isEqualTo(expected);
            }
        }
        assertThat(batch.answers().get(4)).isInstanceOf(Failed.class);
        assertThat(batch.acknowledgeable()).isEqualTo(4);

        InboxBatch again = inbox.processAll(messages, Mailroom::apply);
        assertThat(again.isDone()).isTrue();
        assertThat(effects(messages)).isEqualTo(230);
    }

    @Test
    void behind_a_copy_with_another_payload_later_messages_of_its_key_are_skipped()
            throws Exception {
        List<InboxMessage> messages = messages("behind-a-copy", 3);
        InboxMessage first = messages.get(0).withOrderingKey("k");
        InboxMessage other = Mailroom.message(first.id(), "other").withOrderingKey("k");
        InboxMessage later = messages.get(1).withOrderingKey("k");

        InboxBatch batch =
                inbox.processAll(
                        List.of(first, other, later, later, messages.get(2)), Mailroom::apply);

        assertThat(batch.answers())
                .containsExactly(
                        new Processed(),
                        new IdentityViolation(),
                        new Skipped(),
                        new Skipped(),
                        new Processed());
        assertThat(effects(messages)).isEqualTo(2);
    }

    @Test
    void an_interrupt_of_the_work_ends_the_batch_and_is_not_lost() throws Exception {
        List<InboxMessage> messages = messages("interrupted", 3);

        InboxBatch batch =
                inbox.processAll(
                        messages,
                        incoming -> {
                            Mailroom.apply(incoming);
                            throw new InterruptedException("the consumer is to end");
                        });

        assertThat(Thread.interrupted()).isTrue();
        assertThat(batch.answers()).hasSize(3).hasOnlyElementsOfType(Failed.class);
        assertThat(batch.answers().stream().distinct()).hasSize(1);
        assertThat(effects(messages)).isZero();
    }

    @Test
    void the_failure_of_one_tenant_skips_no_message_of_another() throws Exception {
        String id = Mailroom.id("tenants");
        InboxMessage guilty = InboxMessage.of("acme", "orders", id + ":1", id.getBytes(UTF_8));
        InboxMessage stranger = InboxMessage.of("other", "orders", id + ":2", id.getBytes(UTF_8));

        InboxBatch batch =
                inbox.processAll(
                        List.of(
                                guilty.withOrderingKey("case-1"),
                                stranger.withOrderingKey("case-1")),
                        refusing(guilty));

        assertThat(batch.answers().get(0)).isInstanceOf(Failed.class);
        assertThat(batch.answers().get(1)).isEqualTo(new Processed());
    }

    @Test
    void behind_one_in_flight_later_messages_of_its_key_are_skipped_and_others_flow()
            throws Exception {
        List<InboxMessage> plain = messages("busy", 4);
        List<InboxMessage> messages =
                List.of(
                        plain.get(0).withOrderingKey("a"),
                        plain.get(1).withOrderingKey("a"),
                        plain.get(2).withOrderingKey("b"),
                        plain.get(3));
        try (Connection busy = db.connect()) {
            busy.setAutoCommit(false);
            inbox.tryStart(busy, messages.get(0));

            InboxBatch batch = inbox.processAll(messages, Mailroom::apply);

            assertThat(batch.answers().get(0)).isInstanceOf(InFlight.class);
            assertThat(batch.answers().subList(1, 4))
                    .containsExactly(new Skipped(), new Processed(), new Processed());
            assertThat(batch.acknowledgeable()).isZero();
            busy.rollback();
        }
        assertThat(effects(plain)).isEqualTo(2);
    }

    @Test
    void a_committed_violation_is_said_and_the_others_flow() throws Exception {
        List<InboxMessage> messages = messages("violated", 3);
        inbox.process(Mailroom.message(messages.get(1).id(), "before"), Mailroom::apply);

        InboxBatch batch = inbox.processAll(messages, Mailroom::apply);

        assertThat(batch.answers())
                .containsExactly(new Processed(), new IdentityViolation(), new Processed());
        assertThat(batch.acknowledgeable()).isEqualTo(1);
    }

    @Test
    void a_claim_nobody_finished_fails_by_name() throws Exception {
        InboxMessage message = Mailroom.message(Mailroom.id("unfinished"));
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            inbox.tryStart(connection, message);
            connection.commit();
        }

        InboxAnswer answer = inbox.processAll(List.of(message), Mailroom::apply).answers().get(0);

        assertThat(((Failed) answer).cause()).isInstanceOf(MessageUnfinishedException.class);
    }

    @Test
    void events_of_all_messages_are_appended_and_equal_ones_once() throws Exception {
        List<InboxMessage> messages = messages("events", 3);
        String id = messages.get(0).id();
        var shared = OutboxEvent.of("shared:" + id, "Order", id, "Seen", new byte[] {1});

        inbox.processAll(
                messages,
                incoming -> {
                    incoming.outbox().append(shared);
                    incoming.outbox()
                            .append(
                                    OutboxEvent.of(
                                            "own:" + incoming.message().id(),
                                            "Order",
                                            id,
                                            "Own",
                                            new byte[] {2}));
                });

        assertThat(
                        db.count(
                                "SELECT count(*) FROM onlyonce.outbox_event WHERE aggregate_id = '"
                                        + id
                                        + "'"))
                .isEqualTo(4);
    }

    @Test
    void events_belong_to_the_tenants_of_their_messages_and_wake_the_relay() throws Exception {
        String id = Mailroom.id("tenants");
        List<InboxMessage> messages =
                List.of(
                        InboxMessage.of("acme", "orders", id, new byte[] {1}),
                        InboxMessage.of("beta", "orders", id, new byte[] {1}),
                        InboxMessage.of("beta", "orders", id + ":2", new byte[] {1}));
        List<String> published = Collections.synchronizedList(new ArrayList<>());
        try (var relay =
                once.relay(
                        events -> {
                            events.forEach(
                                    e -> published.add(e.delivery().tenant() + " " + e.key()));
                            return Collections.nCopies(events.size(), PublishResult.published());
                        },
                        RelayOptions.standard()
                                .withLease(Duration.ofMinutes(15), Duration.ofSeconds(10))
                                .withPoll(Duration.ofMinutes(5)))) {
            relay.start();
            Await.until(Duration.ofSeconds(30), () -> relay.stats().buckets() == 64, "it runs");

            inbox.processAll(
                    messages,
                    incoming ->
                            incoming.outbox()
                                    .append(
                                            OutboxEvent.of(
                                                    incoming.message().id(),
                                                    "Order",
                                                    id,
                                                    "Seen",
                                                    new byte[] {1})));

            Await.until(
                    Duration.ofSeconds(30),
                    () ->
                            published.containsAll(
                                    List.of("acme " + id, "beta " + id, "beta " + id + ":2")),
                    "all are published, long before the next poll");
        }
    }

    @Test
    void versions_in_any_order_are_all_applied_in_theirs() throws Exception {
        VersionGuard guard = once.versionGuard();
        String aggregate = Mailroom.id("versions");
        List<InboxMessage> messages = new ArrayList<>();
        for (int version = 1; version <= 20; version++) {
            messages.add(
                    Mailroom.message(aggregate + ":" + version, "" + version)
                            .withOrderingKey(aggregate));
        }
        Collections.shuffle(messages, new Random(7));
        List<Long> applied = new ArrayList<>();
        MessageWork<SQLException> follow =
                incoming -> {
                    long version = Long.parseLong(new String(incoming.message().payload()));
                    var advance =
                            guard.advance(
                                    incoming.connection(),
                                    "list",
                                    "acme",
                                    "Case",
                                    aggregate,
                                    version);
                    if (advance.isApply()) {
                        Mailroom.apply(incoming.connection(), incoming.message().id());
                        applied.add(version);
                    }
                };

        InboxBatch batch = new InboxBatch(List.of(new Skipped()));
        for (int poll = 0; poll < 20 && !batch.isDone(); poll++) {
            batch = inbox.processAll(messages, follow);
            for (int i = 0; i < messages.size(); i++) {
                boolean isStored = Mailroom.effects(db, messages.get(i).id()) == 1;
                assertThat(batch.answers().get(i).isDone()).isEqualTo(isStored);
            }
        }

        assertThat(batch.isDone()).isTrue();
        assertThat(effects(messages)).isEqualTo(20);
        assertThat(applied.subList(applied.size() - 1, applied.size())).containsExactly(20L);
    }

    @Test
    void what_is_missing_for_good_stays_deferred_and_holds_nobody_back() throws Exception {
        VersionGuard guard = once.versionGuard();
        String aggregate = Mailroom.id("missing");
        List<InboxMessage> messages =
                List.of(
                        Mailroom.message(aggregate + ":3", "3").withOrderingKey(aggregate),
                        Mailroom.message(aggregate + ":1", "1").withOrderingKey(aggregate),
                        Mailroom.message(aggregate + ":x", "1").withOrderingKey("another"));

        InboxBatch batch =
                inbox.processAll(
                        messages,
                        incoming -> {
                            String of = incoming.message().orderingKey().orElseThrow() + aggregate;
                            long version = Long.parseLong(new String(incoming.message().payload()));
                            guard.advance(
                                    incoming.connection(), "list", "acme", "Case", of, version);
                        });

        assertThat(batch.answers())
                .containsExactly(new Deferred(2), new Processed(), new Processed());
        assertThat(batch.acknowledgeable()).isZero();
    }

    @Test
    void a_stored_hash_that_cannot_be_compared_fails_only_its_message() throws Exception {
        List<InboxMessage> messages = messages("unknown-hash", 3);
        inbox.process(messages.get(1), Mailroom::apply);
        db.execute(
                "UPDATE onlyonce.inbox_message SET hash_version = 9999 WHERE message_id = '"
                        + messages.get(1).id()
                        + "'");

        InboxBatch batch = inbox.processAll(messages, Mailroom::apply);

        assertThat(batch.answers().get(0)).isEqualTo(new Processed());
        assertThat(((Failed) batch.answers().get(1)).cause())
                .isInstanceOf(UnsupportedHashVersionException.class);
        assertThat(batch.answers().get(2)).isEqualTo(new Processed());
    }

    @Test
    void a_database_that_cannot_be_reached_fails_all_at_once() throws Exception {
        try (var pool = db.pool(1)) {
            var gone = Mailroom.once(pool).inbox("billing");
            pool.close();

            InboxBatch batch = gone.processAll(messages("gone", 300), Mailroom::apply);

            assertThat(batch.answers()).hasSize(300).allMatch(Failed.class::isInstance);
        }
    }
}
