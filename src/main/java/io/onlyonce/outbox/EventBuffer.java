package io.onlyonce.outbox;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The events of one work, in the order they were appended. They are written in the trip that
 * commits the work, so appending costs no trip of its own, and a work that fails leaves none. For
 * the work's own thread.
 */
public final class EventBuffer {

    private final Map<String, OutboxEvent> events = new LinkedHashMap<>();

    /** Empty; {@code work.outbox()} is one. */
    public EventBuffer() {}

    /**
     * Adds the event, once: the same again changes nothing.
     *
     * @throws EventKeyReusedException if the key already stands for another event of this work; a
     *     key that stands for another event in the database is refused when the work commits
     */
    public void append(OutboxEvent event) {
        OutboxEvent known = events.putIfAbsent(event.key(), event);
        if (known != null && !known.saysTheSameAs(event)) {
            throw new EventKeyReusedException();
        }
    }

    /** What was appended so far. */
    public List<OutboxEvent> events() {
        return new ArrayList<>(events.values());
    }
}
