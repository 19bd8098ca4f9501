package io.onlyonce.command;

import org.jspecify.annotations.Nullable;

/**
 * What a command came to.
 *
 * @param value what the work returned, now or back then
 * @param replayed true if the work did not run in this call
 */
public record Outcome<T>(@Nullable T value, boolean replayed) {

    /** Says whether it was replayed; the value is the caller's. */
    @Override
    public String toString() {
        return replayed ? "Outcome[replayed]" : "Outcome[new]";
    }
}
