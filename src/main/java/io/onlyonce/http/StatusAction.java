package io.onlyonce.http;

/** What becomes of a request by the status that its handler returned. */
public enum StatusAction {
    /** What the handler wrote is committed, and its response replayed. */
    COMMIT_AND_STORE,
    /** What the handler wrote is undone, and its response replayed: a deterministic "no". */
    UNDO_AND_STORE,
    /** Everything is rolled back and the key is free: the next attempt runs the handler again. */
    UNDO_AND_FORGET;

    /**
     * The default: 2xx and 3xx are committed; 401, 403, 408, 425, 429, 1xx and 5xx are forgotten,
     * because who asks and when may change them; every other 4xx is stored.
     */
    public static StatusAction of(int status) {
        return switch (status) {
            case 401, 403, 408, 425, 429 -> UNDO_AND_FORGET;
            default ->
                    status < 200 || status >= 500
                            ? UNDO_AND_FORGET
                            : status < 400 ? COMMIT_AND_STORE : UNDO_AND_STORE;
        };
    }
}
