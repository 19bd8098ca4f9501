package io.onlyonce.outbox;

import io.onlyonce.OnlyOnceException;

/**
 * The key of an appended event already stands for another event of the tenant; nothing was written.
 */
public final class EventKeyReusedException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Says so, without quoting the key. */
    public EventKeyReusedException() {
        super(
                "The event key already stands for an event with another type, aggregate, version or"
                        + " payload, so nothing was written. Give each event a key of its own, for"
                        + " example its type and the command's id.");
    }
}
