package io.onlyonce.ground;

import java.util.Optional;

/**
 * How one caller of a {@link Race} ended: with a value (empty if it was null) or with a failure.
 */
public record Attempt<T>(Optional<T> value, Optional<Throwable> failure) {

    /** True if the caller returned; its value may be empty even so. */
    public boolean succeeded() {
        return failure.isEmpty();
    }

    static <T> Attempt<T> returned(T value) {
        return new Attempt<>(Optional.ofNullable(value), Optional.empty());
    }

    static <T> Attempt<T> threw(Throwable failure) {
        return new Attempt<>(Optional.empty(), Optional.of(failure));
    }
}
