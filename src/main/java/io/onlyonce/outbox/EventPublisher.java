package io.onlyonce.outbox;

import java.util.List;

/**
 * Hands events over to a broker; implemented by the user.
 *
 * <p>Each event arrives at least once, with the same {@link Delivery#id} every time. Within one
 * aggregate, publish in list order, and after a failure answer {@link PublishResult#notTried} for
 * its later events. Return only when the broker has confirmed. No transaction is open and no lock
 * is held meanwhile. A call that throws, or takes longer than the relay's timeout and is then
 * interrupted, charges no event: all of them are offered again, in smaller calls.
 */
@FunctionalInterface
public interface EventPublisher {

    /**
     * Publishes the events.
     *
     * @return one answer for each event, in the same order
     */
    List<PublishResult> publish(List<OutboxEvent> events) throws Exception;
}
