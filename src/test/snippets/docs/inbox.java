package docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.inbox.*;
import io.onlyonce.outbox.*;
import io.onlyonce.payload.*;
import java.sql.*;
import java.time.Duration;
import java.util.*;

/** Brokers are stood in for by the few methods that the snippets call; kafkaTest has a real one. */
public class inbox extends Harness {

    static class Invoices {
        void add(Connection connection, InboxMessage message) throws SQLException {
            if (message.id().startsWith("bad")) {
                throw new IllegalStateException("cannot be processed");
            }
            update(connection, "INSERT INTO invoice (id) VALUES (?)", message.id());
        }
    }

    private final Invoices invoices = new Invoices();
    private final MessageWork<RuntimeException> work = incoming -> invoices.add(incoming.connection(), incoming.message());

    private long invoices(String like) throws SQLException {
        return db.count("SELECT count(*) FROM invoice WHERE id LIKE '" + like + "'");
    }

    private void tables() throws SQLException {
        db.execute("CREATE TABLE IF NOT EXISTS invoice (id text)");
    }

    record Polled(String id, byte[] bytes) {}

    static class Broker {
        final List<Polled> acknowledged = new ArrayList<>();

        void acknowledge(Polled record) {
            acknowledged.add(record);
        }
    }

    public void a_message() throws Exception {
        tables();
        var broker = new Broker();
        var record = new Polled("single-1", bytes("{}"));
        receive(broker, record);
        receive(broker, record);
        assertThat(broker.acknowledged).hasSize(2);
        assertThat(invoices("single%")).isEqualTo(1);
        assertThat(published()).extracting(OutboxEvent::type).containsExactly("Invoiced");
    }

    private void receive(Broker broker, Polled record) throws Exception {
        String tenant = "acme", orderId = "O-1";
        byte[] json = bytes("{}");
        //> Inbox and version guard
    }

    static class Committing {
        int committed;

        void commit(int count) {
            committed = count;
        }
    }

    public void a_batch() throws Exception {
        tables();
        Inbox inbox = once.inbox("billing");
        var consumer = new Committing();
        List<InboxMessage> messages =
                List.of("batch-1", "batch-1", "bad-2", "batch-3").stream()
                        .map(id -> InboxMessage.of("acme", "orders", id, bytes("{}")))
                        .toList();
        //> Batches
        assertThat(consumer.committed).isEqualTo(2);
        assertThat(batch.answers().get(1)).isInstanceOf(InboxAnswer.Duplicate.class);
        assertThat(batch.answers().get(2)).isInstanceOf(InboxAnswer.Failed.class);
        assertThat(invoices("batch%")).isEqualTo(2);
    }

    record Event(long version) {}

    static class CaseList {
        int applied;

        void apply(Connection connection, Event event) {
            applied++;
        }
    }

    public void versions() throws Exception {
        var caseList = new CaseList();
        assertThat(projected(caseList, new Event(1), "v-1")).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(projected(caseList, new Event(1), "v-1-again")).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(caseList.applied).isEqualTo(1);
        assertThat(projected(caseList, new Event(3), "v-3")).isEqualTo(new InboxAnswer.Deferred(2));
        assertThat(caseList.applied).isEqualTo(1);
    }

    private InboxAnswer projected(CaseList caseList, Event event, String id) throws Exception {
        VersionGuard guard = once.versionGuard();
        String tenant = "acme", caseId = "7";
        return once.inbox("case-list").process(InboxMessage.of(tenant, "cases", id, bytes("{}")), incoming -> {
            //> Versions
        });
    }

    // What stands in for Kafka.

    record TopicPartition(String topic, int partition) {}

    record OffsetAndMetadata(long offset) {}

    record ConsumerRecord<K, V>(K key, V value, long offset) {}

    record ConsumerRecords<K, V>(Map<TopicPartition, List<ConsumerRecord<K, V>>> all) {
        Set<TopicPartition> partitions() {
            return all.keySet();
        }

        List<ConsumerRecord<K, V>> records(TopicPartition partition) {
            return all.get(partition);
        }
    }

    static class CommitFailedException extends RuntimeException {}

    static class RebalanceInProgressException extends RuntimeException {}

    static class KafkaConsumer {
        final Map<TopicPartition, List<ConsumerRecord<String, byte[]>>> log = new LinkedHashMap<>();
        final Map<TopicPartition, Long> sought = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> committed = Map.of();

        ConsumerRecords<String, byte[]> poll(Duration timeout) {
            return new ConsumerRecords<>(log);
        }

        void seek(TopicPartition partition, long offset) {
            sought.put(partition, offset);
        }

        void commitSync(Map<TopicPartition, OffsetAndMetadata> done) {
            committed = done;
        }
    }

    private InboxMessage message(ConsumerRecord<String, byte[]> record) {
        return InboxMessage.of("acme", "topic", new String(record.value()), record.value());
    }

    public void kafka() throws Exception {
        tables();
        var consumer = new KafkaConsumer();
        var good = new TopicPartition("t", 0);
        var bad = new TopicPartition("t", 1);
        consumer.log.put(good, List.of(new ConsumerRecord<>("a", bytes("kafka-1"), 10), new ConsumerRecord<>("b", bytes("kafka-2"), 11)));
        consumer.log.put(bad, List.of(new ConsumerRecord<>("a", bytes("kafka-3"), 20), new ConsumerRecord<>("b", bytes("bad-4"), 21)));
        Inbox inbox = once.inbox("kafka");
        //> Recipes
        assertThat(consumer.committed).containsEntry(good, new OffsetAndMetadata(12)).containsEntry(bad, new OffsetAndMetadata(21));
        assertThat(consumer.sought).containsExactly(Map.entry(bad, 21L));
        assertThat(invoices("kafka%")).isEqualTo(3);
    }

    // What stands in for RabbitMQ.

    record Properties(String getMessageId) {}

    record Envelope(long getDeliveryTag) {}

    record Delivery(String id, byte[] getBody, long tag) {
        Properties getProperties() {
            return new Properties(id);
        }

        Envelope getEnvelope() {
            return new Envelope(tag);
        }
    }

    interface Delivered {
        void handle(String tag, Delivery delivery) throws Exception;
    }

    interface Cancelled {
        void handle(String tag);
    }

    static class Channel {
        Delivered delivered;
        final List<Long> acked = new ArrayList<>();
        final List<Long> nacked = new ArrayList<>();

        void basicConsume(String queue, boolean autoAck, Delivered delivered, Cancelled cancelled) {
            this.delivered = delivered;
        }

        void basicAck(long tag, boolean multiple) {
            acked.add(tag);
        }

        void basicNack(long tag, boolean multiple, boolean requeue) {
            nacked.add(tag);
        }
    }

    public void rabbitmq() throws Exception {
        tables();
        var channel = new Channel();
        String tenant = "acme", queue = "orders";
        Inbox inbox = once.inbox("rabbit");
        //> Recipes (2)
        channel.delivered.handle("", new Delivery("rabbit-1", bytes("{}"), 1));
        channel.delivered.handle("", new Delivery("rabbit-1", bytes("{}"), 2));
        assertThat(channel.acked).containsExactly(1L, 2L);
        assertThat(invoices("rabbit%")).isEqualTo(1);
    }

    // What stands in for SQS.

    record SqsMessage(String id, String receiptHandle) {}

    static class Sqs {
        final List<String> deleted = new ArrayList<>();

        void deleteMessage(String queueUrl, String receiptHandle) {
            deleted.add(receiptHandle);
        }
    }

    private InboxMessage message(SqsMessage message) {
        return InboxMessage.of("acme", "sqs", message.id(), bytes("{}"));
    }

    public void sqs() throws Exception {
        tables();
        var sqs = new Sqs();
        String queueUrl = "queue";
        Inbox inbox = once.inbox("sqs");
        List<SqsMessage> received = List.of(new SqsMessage("sqs-1", "r1"), new SqsMessage("bad-2", "r2"), new SqsMessage("sqs-1", "r3"));
        //> Recipes (3)
        assertThat(sqs.deleted).containsExactly("r1", "r3");
        assertThat(invoices("sqs%")).isEqualTo(1);
    }

    record Signature(boolean valid) {
        boolean isValid(byte[] body) {
            return valid;
        }
    }

    record Hook(String id) {}

    public void webhooks() throws Exception {
        tables();
        assertThat(hook(new Signature(false), "{}")).isEqualTo(401);
        assertThat(hook(new Signature(true), "{}")).isEqualTo(200);
        assertThat(hook(new Signature(true), "{}")).isEqualTo(200);
        assertThat(hook(new Signature(true), "{\"other\": 1}")).isEqualTo(409);
        assertThat(invoices("hook%")).isEqualTo(1);
    }

    private int hook(Signature signature, String body) throws Exception {
        byte[] rawBody = bytes(body);
        var event = new Hook("hook-1");
        String tenant = "acme";
        Inbox inbox = once.inbox("hooks");
        //> Recipes (4)
    }
}
