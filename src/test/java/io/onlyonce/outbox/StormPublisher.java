package io.onlyonce.outbox;

import java.sql.Array;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A broker of ill repute: it refuses one event in ten and breaks off one call in fifty, halfway.
 * What it takes is durable at once, in rows whose numbers are the order of delivery across all
 * processes.
 */
final class StormPublisher implements EventPublisher {

    private static final int CHUNK = 10;

    private final Connection broker;
    private final String relay;
    private final Random random;
    private final AtomicBoolean answered = new AtomicBoolean();
    private Supplier<RelayStats> stats = () -> new RelayStats(0, 0, 0, 0, 0, 0, 0, 0);
    private RelayStats before = stats.get();
    private long call;

    StormPublisher(Connection broker, String relay, long seed) {
        this.broker = broker;
        this.relay = relay;
        this.random = new Random(seed);
    }

    /** The relay that it works for, asked what became of the last call. */
    void follow(Supplier<RelayStats> stats) {
        this.stats = stats;
    }

    /** True once after each answer: what follows is the mark. */
    boolean isAboutToMark() {
        return answered.getAndSet(false);
    }

    @Override
    public List<PublishResult> publish(List<OutboxEvent> events) throws SQLException {
        long call = begin();
        Set<String> stopped = new HashSet<>();
        List<PublishResult> results = new ArrayList<>();
        List<OutboxEvent> chunk = new ArrayList<>();
        int breaksAt = random.nextInt(50) == 0 ? random.nextInt(events.size()) : -1;
        for (int i = 0; i < events.size(); i++) {
            OutboxEvent event = events.get(i);
            if (i == breaksAt) {
                deliver(call, chunk);
                throw new IllegalStateException("the broker broke off");
            }
            if (stopped.contains(event.aggregateId())) {
                results.add(PublishResult.notTried());
            } else if (random.nextInt(10) == 0) {
                stopped.add(event.aggregateId());
                results.add(PublishResult.failed("refused"));
            } else {
                chunk.add(event);
                results.add(PublishResult.published());
            }
            if (chunk.size() == CHUNK) {
                deliver(call, chunk);
            }
        }
        deliver(call, chunk);
        answered.set(true);
        return results;
    }

    /** What became of the last call, as its relay tells it; a killed one tells nothing. */
    synchronized void tellFate() throws SQLException {
        RelayStats now = stats.get();
        String fate = "marked";
        if (now.failedCalls() > before.failedCalls()) {
            fate = "the call failed";
        } else if (now.unmarked() > before.unmarked()) {
            fate = "the mark was lost or refused";
        }
        try (var insert = broker.prepareStatement("INSERT INTO fate VALUES (?, ?, ?, ?)")) {
            insert.setLong(1, call);
            insert.setString(2, fate);
            insert.setLong(3, now.unmarked() - before.unmarked());
            insert.setLong(4, now.failed() - before.failed());
            insert.executeUpdate();
        }
        before = now;
    }

    private synchronized long begin() throws SQLException {
        if (call != 0) {
            tellFate();
        }
        try (var next = broker.createStatement();
                var row = next.executeQuery("SELECT nextval('calls')")) {
            row.next();
            call = row.getLong(1);
            return call;
        }
    }

    private void deliver(long call, List<OutboxEvent> events) throws SQLException {
        String sql =
                """
                INSERT INTO delivery (relay, call, event_id, event_key, aggregate, version)
                SELECT ?, ?, d.event_id, d.event_key, d.aggregate, d.version
                FROM unnest(?::uuid[], ?::text[], ?::text[], ?::int8[])
                    WITH ORDINALITY AS d (event_id, event_key, aggregate, version, place)
                ORDER BY d.place
                """;
        try (var insert = broker.prepareStatement(sql)) {
            insert.setString(1, relay);
            insert.setLong(2, call);
            insert.setArray(3, array("uuid", events.stream().map(e -> e.delivery().id())));
            insert.setArray(4, array("text", events.stream().map(OutboxEvent::key)));
            insert.setArray(5, array("text", events.stream().map(OutboxEvent::aggregateId)));
            insert.setArray(6, array("int8", events.stream().map(e -> e.version().orElseThrow())));
            insert.executeUpdate();
        }
        events.clear();
    }

    private Array array(String type, Stream<?> values) throws SQLException {
        return broker.createArrayOf(type, values.toArray());
    }
}
