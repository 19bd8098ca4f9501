package io.onlyonce.compare;

import io.onlyonce.outbox.OutboxEvent;

/** The events that every way has to move: the same keys, aggregates, versions and payloads. */
final class Backlog {

    static final String TENANT = "acme";
    static final int AGGREGATES = 1_000;

    private Backlog() {}

    static OutboxEvent event(int n) {
        return OutboxEvent.of(key(n), "Account", aggregate(n), "Deposited", payload(n))
                .withVersion(n);
    }

    static String key(int n) {
        return "deposited:" + n;
    }

    static String aggregate(int n) {
        return String.valueOf(n % AGGREGATES);
    }

    static byte[] payload(int n) {
        return Business.payload(n % AGGREGATES);
    }

    static void check(long expected, long moved) {
        if (expected != moved) {
            throw new IllegalStateException(
                    "%d events were to be moved, %d were".formatted(expected, moved));
        }
    }
}
