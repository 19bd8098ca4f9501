package io.onlyonce.outbox;

/** What an append did. */
public enum AppendResult {
    /** The event will be published once the transaction commits. */
    APPENDED,
    /** The same event was there already; nothing was written. */
    DUPLICATE
}
