package io.onlyonce.inbox;

import java.sql.SQLException;

/**
 * What a message is to bring about. It may run several times, of which at most one commits, so its
 * effects belong on the connection it is given.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface MessageWork<X extends Exception> {

    /** Throws to roll everything back, {@link MessageDeferredException} to be asked again later. */
    void run(Incoming incoming) throws X, SQLException;
}
