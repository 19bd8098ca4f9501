package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.outbox.EventPublisher;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.OutboxMode;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.PublishResult;
import io.onlyonce.outbox.RelayOptions;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import javax.sql.DataSource;

/** The library's relay with its standard options, one thread. */
final class RelayDrain implements Drain {

    static final String TABLE = "onlyonce.outbox_event";

    /** Takes everything. */
    static final EventPublisher NOTHING =
            events -> Collections.nCopies(events.size(), PublishResult.published());

    private static final int APPEND = 500;

    private final DataSource pool;
    private final OnlyOnce once;

    RelayDrain(DataSource pool, OutboxMode mode) throws SQLException {
        this.pool = pool;
        this.once = OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).withOutbox(mode).build();
    }

    OutboxRelay relay(EventPublisher publisher, RelayOptions options) {
        return once.relay(publisher, options);
    }

    @Override
    public void fill(int rows) throws SQLException {
        try (var connection = pool.getConnection();
                var truncate = connection.createStatement()) {
            truncate.execute("TRUNCATE " + TABLE);
        }
        append(0, rows);
    }

    /** Through the library, so that buckets and identities are what they are in use. */
    void append(int from, int to) throws SQLException {
        try (var connection = pool.getConnection()) {
            for (int first = from; first < to; first += APPEND) {
                List<OutboxEvent> events = new ArrayList<>();
                for (int n = first; n < Math.min(first + APPEND, to); n++) {
                    events.add(Backlog.event(n));
                }
                once.outbox().append(connection, Backlog.TENANT, events);
            }
        }
    }

    @Override
    public void drain(int rows) throws Exception {
        try (var relay = once.relay(NOTHING)) {
            while (relay.runOnce() > 0) {
                // until nothing is ready
            }
            Backlog.check(rows, relay.stats().published());
        }
    }
}
