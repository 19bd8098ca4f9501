package io.onlyonce.outbox;

/** What becomes of an event's row. */
public enum OutboxMode {
    /** Published rows stay until retention takes them, so that their keys stay unique. */
    KEEP,
    /** Published rows are deleted at once: the least work, but a key is unique only until then. */
    DELETE,
    /** Rows are written as published, for a reader of the write-ahead log; no relay runs. */
    CDC
}
