package io.onlyonce.outbox;

import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.TestDatabase;

import org.apache.kafka.connect.source.SourceRecord;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A Debezium engine that reads the outbox of one database through the outbox event router. */
final class Router implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<SourceRecord> records = new CopyOnWriteArrayList<>();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final DebeziumEngine<RecordChangeEvent<SourceRecord>> engine;
    private volatile String end = "runs";

    private Router(TestDatabase db) {
        engine =
                DebeziumEngine.create(io.debezium.engine.format.ChangeEventFormat.of(Connect.class))
                        .using(config(db))
                        .using(
                                (success, message, error) ->
                                        end = "ended: " + message + ", " + error)
                        .notifying(event -> records.add(event.record()))
                        .build();
    }

    /** Returns once the engine reads the log, so that nothing committed from now on is missed. */
    static Router start(TestDatabase db) throws Exception {
        var router = new Router(db);
        router.thread.execute(router.engine);
        Await.until(
                PATIENCE,
                () ->
                        router.isRunning()
                                && db.count(
                                                "SELECT count(*) FROM pg_replication_slots WHERE"
                                                        + " database = current_database() AND"
                                                        + " active")
                                        == 1,
                "the slot is active");
        return router;
    }

    /** As docs/outbox.md has it, with what an embedded engine needs besides. */
    private static Properties config(TestDatabase db) {
        var config = new Properties();
        config.setProperty("name", "outbox");
        config.setProperty("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
        config.setProperty("database.hostname", db.target().host());
        config.setProperty("database.port", String.valueOf(db.target().port()));
        config.setProperty("database.user", db.user());
        config.setProperty("database.password", db.password());
        config.setProperty("database.dbname", db.url().replaceAll(".*/|[?].*", ""));
        config.setProperty("topic.prefix", "onlyonce");
        config.setProperty("plugin.name", "pgoutput");
        config.setProperty("slot.drop.on.stop", "true");
        config.setProperty("snapshot.mode", "no_data");
        config.setProperty("publication.autocreate.mode", "filtered");
        config.setProperty("table.include.list", "onlyonce.outbox_event");
        config.setProperty("skipped.operations", "u,d,t");
        config.setProperty("tombstones.on.delete", "false");
        config.setProperty("poll.interval.ms", "5");
        config.setProperty("transforms", "outbox");
        String outbox = "transforms.outbox.";
        config.setProperty(outbox + "type", "io.debezium.transforms.outbox.EventRouter");
        config.setProperty(outbox + "table.field.event.id", "event_id");
        config.setProperty(outbox + "table.field.event.key", "aggregate_id");
        config.setProperty(outbox + "table.field.event.payload", "payload");
        config.setProperty(outbox + "route.by.field", "aggregate_type");
        config.setProperty(outbox + "route.topic.replacement", "outbox.${routedByValue}");
        config.setProperty(
                outbox + "table.fields.additional.placement",
                "event_type:header:type,event_key:header:key,tenant:header:tenant,"
                        + "aggregate_version:header:version,headers:header:headers");
        config.setProperty(
                "offset.storage", "org.apache.kafka.connect.storage.MemoryOffsetBackingStore");
        return config;
    }

    private boolean isRunning() {
        if (!end.equals("runs")) {
            throw new IllegalStateException("The engine " + end);
        }
        return true;
    }

    /** The records once there are so many. */
    List<SourceRecord> await(int count) throws Exception {
        Await.until(
                PATIENCE,
                () -> isRunning() && records.size() >= count,
                count + " records have arrived");
        return List.copyOf(records);
    }

    @Override
    public void close() throws IOException, InterruptedException {
        engine.close();
        thread.shutdown();
        thread.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
}
