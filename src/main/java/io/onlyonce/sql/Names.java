package io.onlyonce.sql;

import java.util.Objects;

/** The one rule for texts that become part of a key. */
public final class Names {

    private Names() {}

    /**
     * Returns the text if it is 1 to {@code max} printable ASCII characters without a space at
     * either end; otherwise refuses it with a sentence that does not quote it.
     */
    public static String require(String text, String what, int max) {
        Objects.requireNonNull(text, what);
        if (text.isEmpty() || text.length() > max) {
            throw new IllegalArgumentException(
                    "The %s must be 1 to %d characters long; this one has %d."
                            .formatted(what, max, text.length()));
        }
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < ' ' || text.charAt(i) > '~') {
                throw new IllegalArgumentException(
                        "The %s must be printable ASCII; the character at index %d is not. Encode it, for example as Base64."
                                .formatted(what, i));
            }
        }
        if (text.charAt(0) == ' ' || text.charAt(text.length() - 1) == ' ') {
            throw new IllegalArgumentException(
                    "The %s must not begin or end with a space; trim it where it comes from."
                            .formatted(what));
        }
        return text;
    }
}
