package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandScope;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.payload.PayloadHash;

import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;

/** Debezium's outbox event router reads what mode CDC writes. */
class DebeziumTest {

    private static final String TENANT = "acme";

    private TestDatabase db;
    private OnlyOnce once;
    private Router router;

    @BeforeEach
    void start() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        once =
                OnlyOnce.on(db.dataSource())
                        .withTtl(Duration.ofDays(1))
                        .withOutbox(OutboxMode.CDC)
                        .build();
        router = Router.start(db);
    }

    @AfterEach
    void stop() throws Exception {
        router.close();
        db.close();
    }

    private static OutboxEvent event(String key, String aggregate, byte[] payload) {
        return OutboxEvent.of(key, "Account", aggregate, "Deposited", payload);
    }

    private static byte[] json(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private void append(OutboxEvent... events) throws Exception {
        once.transactions()
                .execute(
                        connection ->
                                once.outbox().append(connection, TENANT, List.of(events)).size());
    }

    private static byte[] payload(SourceRecord record) {
        return record.value() instanceof ByteBuffer buffer
                ? buffer.array()
                : (byte[]) record.value();
    }

    private static Object header(SourceRecord record, String name) {
        var header = record.headers().lastWithName(name);
        return header == null ? null : header.value();
    }

    @Test
    void an_appended_event_arrives_with_key_id_and_payload() throws Exception {
        byte[] payload = json("{\"amount\" : 10.00}");
        append(event("deposited:1", "a-1", payload).withVersion(8).withHeader("trace", "t-1"));

        SourceRecord record = router.await(1).get(0);

        assertThat(record.topic()).isEqualTo("outbox.Account");
        assertThat(record.key()).isEqualTo("a-1");
        assertThat(payload(record)).isEqualTo(payload);
        assertThat(header(record, "id"))
                .isEqualTo(
                        db.value("SELECT event_id::text FROM onlyonce.outbox_event", String.class)
                                .orElseThrow());
        assertThat(header(record, "type")).isEqualTo("Deposited");
        assertThat(header(record, "key")).isEqualTo("deposited:1");
        assertThat(header(record, "tenant")).isEqualTo(TENANT);
        assertThat(header(record, "version")).isEqualTo(8L);
        assertThat(header(record, "headers")).isEqualTo("{\"trace\":\"t-1\"}");
    }

    @Test
    void rolled_back_events_never_arrive_and_duplicates_arrive_once() throws Exception {
        append(event("deposited:1", "a-1", json("1")));
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            once.outbox()
                    .append(connection, TENANT, List.of(event("rolled-back", "a-1", json("2"))));
            connection.rollback();
        }
        append(event("deposited:1", "a-1", json("1")));
        append(event("deposited:3", "a-1", json("3")), event("deposited:4", "a-1", json("4")));

        assertThat(router.await(3))
                .extracting(record -> header(record, "key"))
                .containsExactly("deposited:1", "deposited:3", "deposited:4");
    }

    @Test
    void an_event_of_a_command_arrives_and_a_replay_adds_none() throws Exception {
        var scope = new CommandScope(TENANT, "checkout", "account.deposit");
        var command = Command.of(scope, "c-1", PayloadHash.ofJson(json("{}")));
        for (int i = 0; i < 2; i++) {
            once.commands()
                    .run(
                            command,
                            String.class,
                            work -> {
                                work.outbox().append(event("deposited:c-1", "a-2", json("5")));
                                return "done";
                            });
        }
        append(event("last", "a-2", json("6")));

        assertThat(router.await(2))
                .extracting(record -> header(record, "key"))
                .containsExactly("deposited:c-1", "last");
    }
}
