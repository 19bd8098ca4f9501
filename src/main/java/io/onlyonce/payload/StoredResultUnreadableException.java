package io.onlyonce.payload;

import io.onlyonce.OnlyOnceException;

/**
 * A command did complete, but its stored result can no longer be decoded; the work is not run
 * again.
 *
 * <p>Ask for the type, or use the codec, that the result was stored with. The message names types,
 * tags and positions, never content, and there is no cause, because a parser's own message quotes
 * what it read.
 */
public final class StoredResultUnreadableException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** For codecs; the detail must not quote the stored content. */
    public StoredResultUnreadableException(String detail) {
        this(detail, "Ask for the type it was stored with, or use the codec that wrote it.");
    }

    private StoredResultUnreadableException(String detail, String advice) {
        super(
                "The command completed, but its stored result cannot be read: "
                        + detail
                        + ". "
                        + advice);
    }

    /** For ciphers: the bytes are not what was encrypted for this command. */
    public static StoredResultUnreadableException undecryptable() {
        return new StoredResultUnreadableException(
                "it was altered, or copied from another command, tenant or schema",
                "Nothing was run. Look at who may write to the tables.");
    }
}
