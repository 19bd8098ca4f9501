package io.onlyonce.command;

import io.onlyonce.OnlyOnceException;

import org.jspecify.annotations.Nullable;

/**
 * Thrown by work to say a deterministic "no": its writes are undone, the rejection is stored, and
 * every repetition of the command meets it again.
 */
public final class CommandRejectedException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final String code;
    private final String detail;
    private final boolean replayed;

    /**
     * For work to throw.
     *
     * @param code 1 to 128 printable ASCII characters that programs decide on
     * @param detail for people
     */
    public CommandRejectedException(String code, String detail) {
        this(new Rejection(code, detail), null, false);
    }

    CommandRejectedException(Rejection rejection, @Nullable Throwable cause, boolean replayed) {
        super("The command was rejected: " + rejection.code(), cause);
        this.code = rejection.code();
        this.detail = rejection.detail();
        this.replayed = replayed;
    }

    /** What programs decide on. */
    public String code() {
        return code;
    }

    /** What people read. */
    public String detail() {
        return detail;
    }

    /** True if the work did not run in this call. */
    public boolean replayed() {
        return replayed;
    }
}
