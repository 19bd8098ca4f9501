/**
 * What has served its time goes: in small chunks, on the database's clock, and never too early.
 *
 * <pre>{@code
 * Retention retention = once.retention(RetentionOptions.standard()
 *     .withMessagesKept(Duration.ofDays(60))
 *     .archiving("account.deposit"));                                  // copied before they go
 * retention.start(Duration.ofMinutes(10));                             // in any number of processes
 * }</pre>
 */
@NullMarked
package io.onlyonce.retention;

import org.jspecify.annotations.NullMarked;
