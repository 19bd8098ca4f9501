package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The recipe for Kafka against a real broker, with the old and the new way to rebalance. */
class KafkaTest {

    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final String TOPIC = "deposits";
    private static final String GROUP = "ledger";
    private static final int PARTITIONS = 4;
    private static final int AHEAD = 1_000;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger worked = new AtomicInteger();
    private final Map<String, Integer> tries = new ConcurrentHashMap<>();
    private volatile boolean enough;
    private TestDatabase db;
    private KafkaBroker broker;
    private Admin admin;
    private Inbox inbox;

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE effect (message text, member text)");
        inbox = OnlyOnce.on(db.pool(4)).withoutExpiry().build().inbox("ledger");
        broker = KafkaBroker.start();
        admin = broker.admin();
        admin.createTopics(List.of(new NewTopic(TOPIC, PARTITIONS, (short) 1)))
                .all()
                .get(60, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() throws Exception {
        threads.shutdownNow();
        assertThat(threads.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
        admin.close();
        broker.close();
        db.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void every_effect_happens_once_while_a_consumer_joins_and_leaves(String protocol)
            throws Exception {
        Future<?> producer = threads.submit(this::produce);
        var first = new Member("first", protocol);
        await(first, () -> effects("first") > 0, "the first has begun");

        var second = new Member("second", protocol);
        await(first, () -> effects("second") > 0, "the second takes part");
        await(first, () -> first.owned < PARTITIONS, "the first has given some away");
        second.leave();
        int before = sent.get();
        await(first, () -> first.owned == PARTITIONS, "the first has all again");
        await(first, () -> sent.get() > before + AHEAD, "some more were sent");
        enough = true;
        producer.get(60, TimeUnit.SECONDS);
        await(first, () -> committed().equals(ends()), "all is committed");
        first.stop();

        System.out.printf(
                "kafka, %s: %d messages, %d records, %d polled again, %d partitions left without"
                        + " a commit%n",
                protocol,
                sent.get(),
                ends().values().stream().mapToLong(n -> n).sum(),
                tries.size(),
                second.uncommitted);
        assertThat(tries).as("what had to be polled again").isNotEmpty();
        assertThat(second.uncommitted).as("partitions left without a commit").isPositive();
        assertThat(db.count("SELECT count(*) FROM effect")).isEqualTo(sent.get());
        assertThat(db.count("SELECT count(DISTINCT message) FROM effect")).isEqualTo(sent.get());
    }

    private long effects(String member) throws SQLException {
        return db.count("SELECT count(*) FROM effect WHERE member = '" + member + "'");
    }

    private static void await(Member member, Await.Condition condition, String what)
            throws Exception {
        Await.until(
                DEADLINE,
                () -> {
                    if (member.running.isDone()) {
                        member.running.get(); // says why
                    }
                    return condition.holds();
                },
                what);
    }

    private Map<Integer, Long> committed() throws Exception {
        return admin
                .listConsumerGroupOffsets(GROUP)
                .partitionsToOffsetAndMetadata()
                .get(60, TimeUnit.SECONDS)
                .entrySet()
                .stream()
                .collect(Collectors.toMap(e -> e.getKey().partition(), e -> e.getValue().offset()));
    }

    private Map<Integer, Long> ends() throws Exception {
        var asked =
                IntStream.range(0, PARTITIONS)
                        .mapToObj(partition -> new TopicPartition(TOPIC, partition))
                        .collect(Collectors.toMap(p -> p, p -> OffsetSpec.latest()));
        return admin.listOffsets(asked).all().get(60, TimeUnit.SECONDS).entrySet().stream()
                .collect(Collectors.toMap(e -> e.getKey().partition(), e -> e.getValue().offset()));
    }

    /** A little ahead of the consumers; one copy or two of each, in any partition. */
    private void produce() {
        var random = ThreadLocalRandom.current();
        try (var producer =
                new KafkaProducer<>(
                        Map.<String, Object>of("bootstrap.servers", broker.servers()),
                        new StringSerializer(),
                        new ByteArraySerializer())) {
            while (!enough && !Thread.currentThread().isInterrupted()) {
                if (sent.get() - worked.get() > AHEAD) {
                    LockSupport.parkNanos(1_000_000);
                    continue;
                }
                int number = sent.incrementAndGet();
                byte[] id = ("m-" + number).getBytes(StandardCharsets.UTF_8);
                for (int copies = random.nextInt(1, 3); copies > 0; copies--) {
                    var one =
                            new ProducerRecord<>(
                                    TOPIC, random.nextInt(PARTITIONS), "a-" + number % 50, id);
                    one.headers().add("id", id);
                    producer.send(one);
                }
            }
        }
    }

    /** A consumer of the group, in a thread of its own. */
    private final class Member {

        private final String name;
        private final KafkaConsumer<String, byte[]> consumer;
        private final Future<?> running;
        private volatile int owned;
        private volatile int uncommitted;
        private volatile boolean stops;
        private volatile boolean leaves;

        Member(String name, String protocol) {
            this.name = name;
            consumer =
                    new KafkaConsumer<>(
                            config(protocol),
                            new StringDeserializer(),
                            new ByteArrayDeserializer());
            running = threads.submit(this::run);
        }

        private Map<String, Object> config(String protocol) {
            Map<String, Object> config = new HashMap<>();
            config.put("bootstrap.servers", broker.servers());
            config.put("group.id", GROUP);
            config.put("group.protocol", protocol);
            config.put("enable.auto.commit", "false");
            config.put("auto.offset.reset", "earliest");
            config.put("max.poll.records", "150");
            if (protocol.equals("classic")) {
                config.put("heartbeat.interval.ms", "200");
            }
            return config;
        }

        private void run() {
            var consuming = new KafkaConsuming(consumer, inbox, this::work);
            try (consumer) {
                consumer.subscribe(List.of(TOPIC));
                while (!stops && !leaves) {
                    consuming.poll();
                    owned = consumer.assignment().size();
                }
                while (leaves && uncommitted == 0) {
                    uncommitted = consuming.process(consumer.poll(Duration.ofMillis(200))).size();
                }
            }
        }

        private void work(Incoming incoming) throws SQLException {
            worked.incrementAndGet();
            try (var insert =
                    incoming.connection().prepareStatement("INSERT INTO effect VALUES (?, ?)")) {
                insert.setString(1, incoming.message().id());
                insert.setString(2, name);
                insert.executeUpdate();
            }
            String id = incoming.message().id();
            if (id.endsWith("00") && tries.merge(id, 1, Integer::sum) <= 2) {
                throw new IllegalStateException("with others and alone, it has to be polled again");
            }
        }

        /** After a poll that is processed and not committed: the worst moment. */
        void leave() throws Exception {
            leaves = true;
            running.get(60, TimeUnit.SECONDS);
        }

        void stop() throws Exception {
            stops = true;
            running.get(60, TimeUnit.SECONDS);
        }
    }
}
