package io.onlyonce.outbox;

import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.Names;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.SqlState;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Appends events inside a transaction that the caller owns; they are published after, and only if,
 * it commits.
 *
 * <p>An event is identified by tenant and key: the same key of two tenants is two events. Inside a
 * command's work use {@code work.outbox()}, which costs no trip. Thread-safe; nothing here commits
 * or rolls back.
 */
public final class Outbox {

    private final EventRows rows;

    private final Observer observer;

    private Outbox(EventRows rows, Observer observer) {
        this.rows = rows;
        this.observer = observer;
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a CommandSetup
    public static Outbox of(CommandSetup setup) {
        return new Outbox(setup.events(), setup.observer());
    }

    /** Appends one event, in one round trip. */
    public AppendResult append(Connection connection, String tenant, OutboxEvent event)
            throws SQLException {
        return append(connection, tenant, List.of(event)).get(0);
    }

    /**
     * Appends events in this order, in one round trip, and answers for each.
     *
     * @throws EventKeyReusedException if a key already stands for another event; the transaction
     *     can only be rolled back
     */
    public List<AppendResult> append(Connection connection, String tenant, List<OutboxEvent> events)
            throws SQLException {
        Names.require(tenant, "tenant", 128);
        Map<String, OutboxEvent> distinct = new HashMap<>();
        var buffer = new EventBuffer();
        events.forEach(buffer::append);
        Set<String> appended;
        try {
            appended = rows.append(connection, tenant, buffer.events());
        } catch (SQLException e) {
            if (SqlState.is(SqlState.EVENT_KEY_REUSED, e)) {
                throw new EventKeyReusedException();
            }
            throw SqlState.withoutDetail(e);
        }
        List<AppendResult> results = new ArrayList<>();
        for (OutboxEvent event : events) {
            boolean first = distinct.putIfAbsent(event.key(), event) == null;
            results.add(
                    first && appended.contains(event.key())
                            ? AppendResult.APPENDED
                            : AppendResult.DUPLICATE);
        }
        observer.tell(
                connection,
                listener ->
                        listener.eventsAppended(appended.size(), events.size() - appended.size()));
        return results;
    }
}
