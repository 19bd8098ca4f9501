/**
 * OnlyOnce: the same command, sent any number of times, has one durable outcome.
 *
 * <pre>{@code
 * Schema.apply(dataSource);
 * OnlyOnce once = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
 *
 * var scope = new CommandScope("acme", "checkout", "account.deposit");
 * var command = Command.of(scope, commandId, PayloadHash.ofJson(body));
 * Outcome<Receipt> outcome = once.commands().run(command, Receipt.class, work -> {
 *     Receipt receipt = ledger.post(work.connection(), account, amount);
 *     work.outbox().append(OutboxEvent.of("deposited:" + command.id(), "Account", account, "Deposited", body));
 *     return receipt;
 * });
 * }</pre>
 *
 * <p>{@link io.onlyonce.OnlyOnce} hands out everything: {@link io.onlyonce.command commands},
 * {@link io.onlyonce.outbox events} that leave, {@link io.onlyonce.inbox messages} that come in,
 * {@link io.onlyonce.http HTTP}, plain {@link io.onlyonce.tx transactions}, {@link
 * io.onlyonce.retention retention} and what {@link io.onlyonce.observe operators} ask.
 */
@NullMarked
package io.onlyonce;

import org.jspecify.annotations.NullMarked;
