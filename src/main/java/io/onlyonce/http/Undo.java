package io.onlyonce.http;

/** Ends a transaction whose handler returned a response with which its writes are not kept. */
final class Undo extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient StoredResponse response;
    private final boolean stored;

    /**
     * As a signal it needs no stack.
     *
     * @param stored true if the response is to be replayed
     */
    Undo(StoredResponse response, boolean stored) {
        super(response.toString(), null, false, false);
        this.response = response;
        this.stored = stored;
    }

    StoredResponse response() {
        return response;
    }

    boolean isStored() {
        return stored;
    }
}
