package io.onlyonce.command;

import io.onlyonce.sql.Names;

import java.util.Objects;

/**
 * A deterministic "no", stored and replayed like a result.
 *
 * @param code 1 to 128 printable ASCII characters that programs decide on
 * @param detail for people; stored with the command, so put nothing secret into it
 */
public record Rejection(String code, String detail) {

    /** Refuses a code that could not be stored. */
    public Rejection {
        Names.require(code, "rejection code", 128);
        Objects.requireNonNull(detail, "detail");
    }

    /** The code; the detail is for the caller alone. */
    @Override
    public String toString() {
        return "Rejection[" + code + "]";
    }
}
