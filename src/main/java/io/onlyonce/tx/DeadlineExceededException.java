package io.onlyonce.tx;

import io.onlyonce.OnlyOnceException;

/** The deadline of the call passed; nothing was committed. */
public final class DeadlineExceededException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    /** Says when it was noticed. */
    public DeadlineExceededException(String when) {
        super("The deadline passed " + when + ". Give it more time or less to do.");
    }
}
