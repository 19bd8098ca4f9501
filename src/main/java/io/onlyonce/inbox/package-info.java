/**
 * Messages that come in: each is processed once, and old news changes nothing.
 *
 * <pre>{@code
 * Inbox inbox = once.inbox("billing");                                 // the consumer: make one and keep it
 * InboxMessage message = InboxMessage.of("acme", "orders", eventId, payload);
 *
 * InboxAnswer answer = inbox.process(message, incoming -> invoices.add(incoming.connection(), payload));
 * if (answer.isDone()) {
 *     broker.acknowledge(eventId);                                     // processed now, or a duplicate
 * }
 * }</pre>
 */
@NullMarked
package io.onlyonce.inbox;

import org.jspecify.annotations.NullMarked;
