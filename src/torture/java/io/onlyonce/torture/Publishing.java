package io.onlyonce.torture;

import io.onlyonce.outbox.EventPublisher;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Hands events to the broker, a table without constraints, and fails as planned. */
final class Publishing implements EventPublisher {

    private static final String INSERT =
            "INSERT INTO broker (tenant, event_id, event_key, account, version, payload) VALUES (?,"
                    + " ?, ?, ?, ?, ?)";

    private final Client client;
    private final Map<String, Cell> planned = new ConcurrentHashMap<>();

    Publishing(Client client) {
        this.client = client;
    }

    /** Strikes the next call with an event of this tenant. */
    void plan(String tenant, Cell cell) {
        planned.put(tenant, cell);
    }

    void planNothing() {
        planned.clear();
    }

    @Override
    public List<PublishResult> publish(List<OutboxEvent> events) throws Exception {
        Cell cell = null;
        String struck = "";
        for (OutboxEvent event : events) {
            String tenant = event.delivery().tenant();
            if (cell == null && planned.containsKey(tenant)) {
                cell = planned.remove(tenant);
                struck = tenant;
                client.fault(tenant, cell);
            }
        }
        if (cell == null) {
            deliver(events);
            return published(events);
        }
        return publish(events, cell, struck);
    }

    private List<PublishResult> publish(List<OutboxEvent> events, Cell cell, String struck)
            throws Exception {
        boolean before = cell.step() == Cell.Step.PUBLISH;
        switch (cell.kind()) {
            case PUBLISHER_THROWS -> {
                charge(events, events.size() == 1);
                throw new IllegalStateException("the broker is away");
            }
            case PUBLISHER_HANGS -> {
                charge(events, events.size() == 1);
                TimeUnit.SECONDS.sleep(20); // until it is interrupted
                throw new IllegalStateException("not interrupted");
            }
            case PUBLISHER_REFUSES -> {
                return refuse(events, struck);
            }
            default -> {
                if (!before) {
                    deliver(events);
                }
                if (cell.kind() == Cell.Kind.KILL) {
                    client.driver().killMe();
                }
                charge(events, events.size() == 1); // the relay may have given the call up
                client.driver().freezeMe();
                if (before) {
                    deliver(events);
                }
                return published(events);
            }
        }
    }

    /** Only an answer about one event, or a call with it alone, may count against it. */
    private void charge(List<OutboxEvent> events, boolean may) {
        if (may) {
            OutboxEvent event = events.get(0);
            client.history().write("charge", event.delivery().tenant(), event.key());
        }
    }

    /** Refuses the first event of the tenant, and leaves the later ones of its aggregate alone. */
    private List<PublishResult> refuse(List<OutboxEvent> events, String struck)
            throws SQLException {
        List<PublishResult> results = new ArrayList<>();
        List<OutboxEvent> good = new ArrayList<>();
        Set<String> failed = new HashSet<>();
        for (OutboxEvent event : events) {
            boolean ofTenant = event.delivery().tenant().equals(struck);
            if (ofTenant && failed.isEmpty()) {
                failed.add(event.aggregateId());
                charge(List.of(event), true);
                results.add(PublishResult.failed("refused"));
            } else if (ofTenant && failed.contains(event.aggregateId())) {
                results.add(PublishResult.notTried());
            } else {
                good.add(event);
                results.add(PublishResult.published());
            }
        }
        deliver(good);
        return results;
    }

    private static List<PublishResult> published(List<OutboxEvent> events) {
        return events.stream().map(event -> PublishResult.published()).toList();
    }

    private void deliver(List<OutboxEvent> events) throws SQLException {
        if (events.isEmpty()) {
            return;
        }
        try (Connection connection = client.brokerConnection();
                var statement = connection.prepareStatement(INSERT)) {
            connection.setAutoCommit(false);
            for (OutboxEvent event : events) {
                statement.setString(1, event.delivery().tenant());
                statement.setString(2, event.delivery().id().toString());
                statement.setString(3, event.key());
                statement.setString(4, event.aggregateId());
                statement.setLong(5, event.version().orElse(-1));
                statement.setBytes(6, event.payload());
                statement.addBatch();
            }
            statement.executeBatch();
            connection.commit();
        } catch (SQLException e) {
            charge(events, events.size() == 1);
            throw e;
        }
    }
}
