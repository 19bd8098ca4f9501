package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.inbox.InboxAnswer.Duplicate;
import io.onlyonce.inbox.InboxAnswer.Processed;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Messages whose COMMIT, or its answer, is lost on the way. */
class InboxFaultsTest extends DatabaseContract {

    private final AtomicInteger runs = new AtomicInteger();
    private FaultProxy proxy;
    private HikariDataSource pool;
    private OnlyOnce once;
    private Inbox inbox;

    InboxFaultsTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openMailroom() throws Exception {
        Mailroom.open(db);
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, 3, config -> config.setConnectionTimeout(1_000));
        once = Mailroom.once(pool);
        inbox = once.inbox("billing");
    }

    @AfterAll
    void closeProxy() throws Exception {
        pool.close();
        proxy.close();
    }

    @BeforeEach
    void mendNetwork() {
        runs.set(0);
        proxy.pass();
        proxy.release();
    }

    private void apply(Incoming incoming) throws SQLException {
        runs.incrementAndGet();
        Mailroom.apply(incoming);
    }

    @Test
    void a_lost_answer_is_processed_without_a_second_run() throws Exception {
        String id = Mailroom.id("answer");
        proxy.cutAnswer("COMMIT");

        assertThat(inbox.process(Mailroom.message(id), this::apply)).isEqualTo(new Processed());

        proxy.awaitFired();
        assertThat(inbox.process(Mailroom.message(id), this::apply)).isEqualTo(new Duplicate());
        assertThat(runs).hasValue(1);
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @Test
    void a_lost_request_runs_the_work_again_and_leaves_one_effect() throws Exception {
        String id = Mailroom.id("request");
        proxy.cutRequest("COMMIT");

        assertThat(inbox.process(Mailroom.message(id), this::apply)).isEqualTo(new Processed());

        proxy.awaitFired();
        assertThat(runs).hasValue(2);
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }

    @Test
    void without_retries_a_lost_request_is_reported_and_leaves_the_message_free() throws Exception {
        String id = Mailroom.id("reported");
        Inbox once =
                inbox.withTransaction(
                        TransactionOptions.readCommitted().withRetry(RetryPolicy.none()));
        proxy.cutRequest("COMMIT");

        assertThatThrownBy(() -> once.process(Mailroom.message(id), this::apply))
                .isInstanceOf(MessageNotCommittedException.class)
                .hasMessageNotContaining(id);

        proxy.awaitFired();
        assertThat(Mailroom.effects(db, id)).isZero();
        assertThat(inbox.process(Mailroom.message(id), this::apply)).isEqualTo(new Processed());
    }

    @Test
    void a_batch_whose_answer_is_lost_is_processed_once() throws Exception {
        String id = Mailroom.id("batch");
        List<InboxMessage> messages =
                IntStream.range(0, 150).mapToObj(i -> Mailroom.message(id + ":" + i)).toList();
        proxy.cutAnswer("COMMIT");

        InboxBatch batch = inbox.processAll(messages, this::apply);

        proxy.awaitFired();
        assertThat(batch.answers()).containsOnly(new Processed());
        assertThat(runs).hasValue(150);
        assertThat(db.count("SELECT count(*) FROM effect WHERE message LIKE '" + id + "%'"))
                .isEqualTo(150);
    }

    @Test
    void a_batch_whose_backend_is_terminated_fails_or_is_processed_and_never_twice()
            throws Exception {
        String id = Mailroom.id("terminated");
        List<InboxMessage> messages =
                IntStream.range(0, 20).mapToObj(i -> Mailroom.message(id + ":" + i)).toList();

        InboxBatch batch =
                inbox.processAll(
                        messages,
                        incoming -> {
                            apply(incoming);
                            if (runs.get() == 10) {
                                incoming.connection()
                                        .createStatement()
                                        .execute("SELECT pg_terminate_backend(pg_backend_pid())");
                            }
                        });

        assertThat(batch.isDone()).isTrue(); // one by one, on another connection
        assertThat(db.count("SELECT count(*) FROM effect WHERE message LIKE '" + id + "%'"))
                .isEqualTo(20);
    }

    @Test
    void the_key_of_the_lock_never_changes() {
        var message = InboxMessage.of("acme", "orders", "order-1", new byte[] {1});

        assertThat(InboxRow.lockKey(io.onlyonce.sql.SchemaName.DEFAULT, "billing", message))
                .isEqualTo(LOCK_KEY);
    }

    /** Of schema onlyonce, tenant acme, consumer billing, source orders and id order-1. */
    private static final long LOCK_KEY = 6665479954226322884L;
}
