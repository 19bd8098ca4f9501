package io.onlyonce.outbox;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Events whose call failed while they were alone in it. One is innocent until others have succeeded
 * between two failures of its own: before that, the publisher may just be down.
 */
final class Suspects {

    private static final int MAX = 10_000;

    private final Map<UUID, Suspect> known =
            new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<UUID, Suspect> eldest) {
                    return size() > MAX;
                }
            };
    private long lastSuccess = System.nanoTime() - Duration.ofDays(1).toNanos();

    private record Suspect(int failures, long lastFailure) {}

    /**
     * What is known of an event after it failed alone.
     *
     * @param failures how often in all
     */
    record Verdict(boolean guilty, int failures) {}

    synchronized Verdict failedAlone(StoredEvent event) {
        UUID id = event.event().delivery().id();
        Suspect before = known.getOrDefault(id, new Suspect(0, lastSuccess));
        int failures = before.failures() + 1;
        known.put(id, new Suspect(failures, System.nanoTime()));
        return new Verdict(lastSuccess - before.lastFailure() > 0, failures);
    }

    /** The publisher took something. */
    synchronized void publisherWorks() {
        lastSuccess = System.nanoTime();
    }

    synchronized boolean contains(StoredEvent event) {
        return known.containsKey(event.event().delivery().id());
    }

    synchronized void clear(StoredEvent event) {
        known.remove(event.event().delivery().id());
    }
}
