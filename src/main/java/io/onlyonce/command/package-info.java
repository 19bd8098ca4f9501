/**
 * Commands: the same id in the same scope with the same payload has one durable outcome and gives
 * back the same result, however often it is sent.
 *
 * <p>{@link io.onlyonce.command.CommandRunner} is the high road, where OnlyOnce owns the
 * transaction; {@link io.onlyonce.command.CommandDedup} the low road, inside a transaction of the
 * caller's own.
 */
@NullMarked
package io.onlyonce.command;

import org.jspecify.annotations.NullMarked;
