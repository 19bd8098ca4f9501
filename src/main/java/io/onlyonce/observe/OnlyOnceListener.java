package io.onlyonce.observe;

import io.onlyonce.command.CommandScope;
import io.onlyonce.inbox.Advance;

/**
 * Is told of every decision, for meters and traces: implement the methods you care for, and give it
 * to {@code OnlyOnce.on(…).withListener(…)}.
 *
 * <p>Called on the thread that asked, after the transaction has ended and its connection is back.
 * Only in a transaction that the caller owns, whose end nobody tells us, the call comes at once,
 * and what it tells of may still be rolled back. Whatever a listener throws is caught and logged; a
 * slow one takes its time from the caller, so hand longer work to a thread of your own. It must be
 * safe for any thread. Nothing it is given holds an id, a payload or a result.
 */
public interface OnlyOnceListener {

    /** A command has its answer, or has failed. */
    default void command(ObservedCommand command) {}

    /** The caller of a command has used up its budget of new ids; nothing ran. */
    default void keyBudgetRefused(CommandScope scope) {}

    /**
     * Events were committed.
     *
     * @param duplicates how many of them were there already
     */
    default void eventsAppended(int appended, int duplicates) {}

    /** A relay has moved something, or failed to. */
    default void relayed(ObservedRelay round) {}

    /** A message has its answer, or has failed. */
    default void message(ObservedMessage message) {}

    /**
     * A version guard has given an answer; one that was rolled back is told only if it is a gap.
     */
    default void versionChecked(String projection, Advance.Kind answer) {}

    /** Retention has removed a chunk of rows of a table, archived or not. */
    default void purged(String table, long rows) {}
}
