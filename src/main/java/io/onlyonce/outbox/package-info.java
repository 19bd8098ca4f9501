/**
 * Events that commit with the data they tell about, and leave at least once, in order per
 * aggregate.
 *
 * <pre>{@code
 * once.transactions().execute(connection -> {
 *     accounts.open(connection, "A-1");
 *     return once.outbox().append(connection, "acme", OutboxEvent.of("opened:A-1", "Account", "A-1", "Opened", json));
 * });
 *
 * OutboxRelay relay = once.relay(events -> {
 *     List<PublishResult> results = new ArrayList<>();
 *     for (OutboxEvent event : events) {
 *         results.add(broker.send(event) ? PublishResult.published() : PublishResult.failed("refused"));
 *     }
 *     return results;
 * });
 * relay.start();
 * }</pre>
 */
@NullMarked
package io.onlyonce.outbox;

import org.jspecify.annotations.NullMarked;
