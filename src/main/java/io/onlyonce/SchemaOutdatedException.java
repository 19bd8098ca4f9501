package io.onlyonce;

import java.util.List;

/** The tables of OnlyOnce are missing, incomplete or older than this version needs. */
public final class SchemaOutdatedException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private SchemaOutdatedException(String message) {
        super(message);
    }

    static SchemaOutdatedException tooOld(String schema, int found, int needed) {
        String state = found == 0 ? "does not exist or is empty" : "is at version " + found;
        return new SchemaOutdatedException(
                "The schema "
                        + schema
                        + " "
                        + state
                        + ", and version "
                        + needed
                        + " is needed: call Schema.apply, or run the files of the sql folder with"
                        + " your own migrations.");
    }

    static SchemaOutdatedException missing(String schema, List<String> tables) {
        return new SchemaOutdatedException(
                "The schema "
                        + schema
                        + " lacks "
                        + String.join(", ", tables)
                        + ": restore what was dropped, or apply the SQL files to an empty schema.");
    }

    static SchemaOutdatedException missingIndex(String schema, String index) {
        return new SchemaOutdatedException(
                "The schema "
                        + schema
                        + " lacks the index "
                        + index
                        + ": run tombstones.sql of the sql folder, or retain without tombstones.");
    }

    /** For a statement that found no table; said before anything else is tried. */
    public static SchemaOutdatedException missingTables(String schema) {
        return tooOld(schema, 0, 1);
    }
}
