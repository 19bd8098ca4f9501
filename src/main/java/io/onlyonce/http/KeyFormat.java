package io.onlyonce.http;

import io.onlyonce.http.InvalidIdempotencyKeyException.Reason;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Which keys an API accepts. Immutable; every {@code with} makes a copy.
 *
 * @param acceptsUnquoted true if {@code k} is accepted too, and means the same as {@code "k"}
 * @param shortest the fewest characters of a key, 1 to 255
 * @param pattern what the whole key must match, if anything
 */
public record KeyFormat(boolean acceptsUnquoted, int shortest, Optional<Pattern> pattern) {

    private static final int LONGEST = 255;

    /** Refuses bounds that no key could meet. */
    public KeyFormat {
        if (shortest < 1 || shortest > LONGEST) {
            throw new IllegalArgumentException("The shortest key must have 1 to 255 characters.");
        }
    }

    /** One structured-field string, of any length that can be stored. */
    public static KeyFormat strict() {
        return new KeyFormat(false, 1, Optional.empty());
    }

    /**
     * The same, and keys without quotes, as many clients send them: printable ASCII without spaces,
     * double quotes and commas.
     */
    public static KeyFormat lenient() {
        return new KeyFormat(true, 1, Optional.empty());
    }

    /** With at least so many characters; guessable keys are short. */
    public KeyFormat withShortest(int characters) {
        return new KeyFormat(acceptsUnquoted, characters, pattern);
    }

    /** Only keys that match as a whole. */
    public KeyFormat withPattern(Pattern pattern) {
        return new KeyFormat(acceptsUnquoted, shortest, Optional.of(pattern));
    }

    /**
     * The key in these lines of the header.
     *
     * @param headerValues one element for each line of the header; null or empty if there is none
     * @throws InvalidIdempotencyKeyException with a reason, {@code MISSING} among them
     */
    public IdempotencyKey parse(@Nullable List<String> headerValues) {
        if (headerValues == null || headerValues.isEmpty()) {
            throw new InvalidIdempotencyKeyException(Reason.MISSING);
        }
        if (headerValues.size() > 1) {
            throw new InvalidIdempotencyKeyException(Reason.SEVERAL_VALUES);
        }
        return new IdempotencyKey(checked(text(headerValues.get(0))));
    }

    private String text(String line) {
        String bare = StructuredString.withoutSpaces(line);
        if (bare.isEmpty()) {
            throw new InvalidIdempotencyKeyException(Reason.EMPTY);
        }
        return acceptsUnquoted && bare.charAt(0) != '"'
                ? unquoted(bare)
                : new StructuredString(bare).value();
    }

    private static String unquoted(String key) {
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (c == ',') { // how lines are joined on their way
                throw new InvalidIdempotencyKeyException(Reason.SEVERAL_VALUES);
            }
            if (c <= ' ' || c > '~' || c == '"') {
                throw new InvalidIdempotencyKeyException(Reason.MALFORMED);
            }
        }
        return key;
    }

    private String checked(String key) {
        if (key.isEmpty()) {
            throw new InvalidIdempotencyKeyException(Reason.EMPTY);
        }
        if (key.length() > LONGEST) {
            throw new InvalidIdempotencyKeyException(Reason.TOO_LONG);
        }
        if (key.length() < shortest) {
            throw new InvalidIdempotencyKeyException(Reason.TOO_SHORT);
        }
        if (key.startsWith(" ")
                || key.endsWith(" ")
                || !pattern.map(p -> p.matcher(key).matches()).orElse(true)) {
            throw new InvalidIdempotencyKeyException(Reason.UNACCEPTABLE);
        }
        return key;
    }
}
