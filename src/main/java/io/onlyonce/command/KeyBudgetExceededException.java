package io.onlyonce.command;

import java.time.Duration;

/**
 * The caller has used up its new ids for this window, so nothing ran. Commands that it has sent
 * before are still answered.
 */
public final class KeyBudgetExceededException extends CommandException {

    private static final long serialVersionUID = 1L;

    private final Duration retryAfter;

    KeyBudgetExceededException(Command command, Duration retryAfter) {
        super(
                command,
                "its caller has used up its budget of new ids. Nothing ran. Send it again,"
                        + " unchanged, when the window is over; if new ids are made for"
                        + " repetitions, mend that first.");
        this.retryAfter = retryAfter;
    }

    /** When the next window begins. */
    public Duration retryAfter() {
        return retryAfter;
    }
}
