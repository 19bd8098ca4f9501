package io.onlyonce.inbox;

import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The recipe for Kafka: poll, process, and commit offsets up to what is done; the rest is polled
 * again. The consumer has {@code enable.auto.commit=false}.
 */
final class KafkaConsuming {

    private final Consumer<String, byte[]> consumer;
    private final Inbox inbox;
    private final MessageWork<?> work;

    KafkaConsuming(Consumer<String, byte[]> consumer, Inbox inbox, MessageWork<?> work) {
        this.consumer = consumer;
        this.inbox = inbox;
        this.work = work;
    }

    /** One poll, from the broker to the broker. */
    void poll() {
        commit(process(consumer.poll(Duration.ofMillis(200))));
    }

    /** Up to where each partition is done with; the consumer stands there too. */
    Map<TopicPartition, OffsetAndMetadata> process(ConsumerRecords<String, byte[]> polled) {
        Map<TopicPartition, OffsetAndMetadata> done = new HashMap<>();
        for (TopicPartition partition : polled.partitions()) {
            List<ConsumerRecord<String, byte[]>> records = polled.records(partition);
            InboxBatch batch = inbox.processAll(records.stream().map(this::message).toList(), work);
            int count = batch.acknowledgeable();
            if (count < records.size()) {
                consumer.seek(partition, records.get(count).offset());
            }
            if (count > 0) {
                long next = records.get(count - 1).offset() + 1;
                done.put(partition, new OffsetAndMetadata(next));
            }
        }
        return done;
    }

    /** The id is the sender's, never the offset: sent twice, a message has two offsets. */
    private InboxMessage message(ConsumerRecord<String, byte[]> polled) {
        byte[] id = polled.headers().lastHeader("id").value();
        return InboxMessage.of(
                        "acme",
                        polled.topic(),
                        new String(id, StandardCharsets.UTF_8),
                        polled.value())
                .withOrderingKey(polled.key());
    }

    void commit(Map<TopicPartition, OffsetAndMetadata> done) {
        if (done.isEmpty()) {
            return;
        }
        try {
            consumer.commitSync(done);
        } catch (CommitFailedException | RebalanceInProgressException e) {
            // Somebody else is given what we have processed, and will find duplicates.
        }
    }
}
