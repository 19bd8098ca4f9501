package io.onlyonce.inbox;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;

import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** A Kafka server in this JVM, broker and controller in one, with nothing in it. */
final class KafkaBroker implements AutoCloseable {

    private static final String HOST = "127.0.0.1";

    private final Path directory;
    private final String servers;
    private final KafkaRaftServer server;

    private KafkaBroker(Path directory, String servers, KafkaRaftServer server) {
        this.directory = directory;
        this.servers = servers;
        this.server = server;
    }

    static KafkaBroker start() throws IOException {
        Path directory = Files.createTempDirectory("onlyonce-kafka");
        String servers = HOST + ":" + freePort();
        var config = config(directory, servers, HOST + ":" + freePort());
        format(directory, config);
        var server = new KafkaRaftServer(new KafkaConfig(config), Time.SYSTEM);
        server.startup();
        return new KafkaBroker(directory, servers, server);
    }

    private static Properties config(Path directory, String servers, String controller) {
        var config = new Properties();
        config.putAll(
                Map.of(
                        "process.roles", "broker,controller",
                        "node.id", "1",
                        "listeners", "PLAINTEXT://" + servers + ",CONTROLLER://" + controller,
                        "listener.security.protocol.map",
                                "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                        "controller.listener.names", "CONTROLLER",
                        "controller.quorum.voters", "1@" + controller,
                        "log.dirs", directory.resolve("data").toString()));
        config.putAll(
                Map.of(
                        "offsets.topic.num.partitions", "1",
                        "offsets.topic.replication.factor", "1",
                        "group.initial.rebalance.delay.ms", "0",
                        "group.consumer.min.heartbeat.interval.ms", "200",
                        "group.consumer.heartbeat.interval.ms", "200",
                        "log.cleaner.dedupe.buffer.size", "4194304"));
        return config;
    }

    private static void format(Path directory, Properties config) throws IOException {
        Path file = directory.resolve("server.properties");
        try (var writer = Files.newBufferedWriter(file)) {
            config.store(writer, null);
        }
        var said = new ByteArrayOutputStream();
        String[] command = {
            "format", "--cluster-id", Uuid.randomUuid().toString(), "--config", file.toString()
        };
        if (StorageTool.execute(command, new PrintStream(said, true, StandardCharsets.UTF_8))
                != 0) {
            throw new IOException("not formatted: " + said.toString(StandardCharsets.UTF_8));
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        }
    }

    /** What clients call bootstrap servers. */
    String servers() {
        return servers;
    }

    Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", servers));
    }

    @Override
    public void close() throws IOException {
        server.shutdown();
        server.awaitShutdown();
        List<Path> files;
        try (var found = Files.walk(directory)) {
            files = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
    }
}
