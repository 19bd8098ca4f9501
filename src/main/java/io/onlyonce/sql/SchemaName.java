package io.onlyonce.sql;

import java.util.regex.Pattern;

/**
 * The name of the database schema our tables live in; validated, so that it can be folded into SQL
 * text.
 */
public record SchemaName(String value) {

    private static final Pattern PLAIN = Pattern.compile("[a-z_][a-z0-9_]{0,62}");
    private static final Pattern DEFAULT_WORD = Pattern.compile("\\bonlyonce\\b");

    /** What the shipped SQL files say. */
    public static final SchemaName DEFAULT = new SchemaName("onlyonce");

    public SchemaName {
        if (!PLAIN.matcher(value).matches()
                || value.startsWith("pg_")
                || value.equals("information_schema")) {
            throw new IllegalArgumentException(
                    "The schema name must be 1 to 63 lower-case letters, digits or underscores, not"
                        + " start with a digit or pg_; choose a plain name such as \"onlyonce\".");
        }
    }

    /** The shipped SQL text with this name in the place of the default one. */
    public String in(String sql) {
        return DEFAULT_WORD.matcher(sql).replaceAll(value);
    }

    @Override
    public String toString() {
        return value;
    }
}
