package io.onlyonce.outbox;

/**
 * An event as the relay holds it between fetching and marking.
 *
 * @param waiting true if it waited behind a failure, false if it was ready
 */
record StoredEvent(long seq, int bucket, int attempts, boolean waiting, OutboxEvent event) {

    Aggregate aggregate() {
        return new Aggregate(event.delivery().tenant(), event.aggregateType(), event.aggregateId());
    }

    /** What order is kept within. */
    record Aggregate(String tenant, String type, String id) {}
}
