/**
 * Commands: the same id in the same scope with the same payload has one durable outcome and gives
 * back the same result, however often it is sent.
 *
 * <p>{@link io.onlyonce.command.CommandRunner} is the high road, where OnlyOnce owns the
 * transaction; {@link io.onlyonce.command.CommandDedup} the low road, inside a transaction of the
 * caller's own.
 *
 * <pre>{@code
 * try {
 *     Outcome<Receipt> outcome = once.commands().run(command, Receipt.class, work -> {
 *         if (!accounts.covers(work.connection(), amount)) {
 *             throw new CommandRejectedException("NOT_COVERED", "The account does not cover it.");
 *         }
 *         return accounts.withdraw(work.connection(), amount);
 *     });
 *     return outcome.value();                                          // now, or what it was back then
 * } catch (CommandRejectedException no) {
 *     return new Receipt(no.code());                                   // the same "no" at every repetition
 * } catch (CommandInFlightException busy) {
 *     return new Receipt("ask again in " + busy.retryAfter());
 * }
 * }</pre>
 */
@NullMarked
package io.onlyonce.command;

import org.jspecify.annotations.NullMarked;
