package io.onlyonce.command;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;

/**
 * The user's callback: what a command does. It may run several times, in transactions of which at
 * most one commits; keep its side effects in the database.
 *
 * @param <T> what it returns, stored for replay
 * @param <X> what it may throw besides {@link SQLException}
 */
@FunctionalInterface
public interface CommandWork<T, X extends Exception> {

    /** Does the work; throws {@link CommandRejectedException} for a deterministic "no". */
    @Nullable T run(Work work) throws X, SQLException;
}
