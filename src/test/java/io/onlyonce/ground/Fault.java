package io.onlyonce.ground;

/** What a {@link FaultProxy} can do to the next flight that carries a given statement. */
public enum Fault {
    /** The server never sees the request; the client is reset and the server's side is closed. */
    CUT_REQUEST,
    /** The server has answered in full, then the client is reset without a byte of the answer. */
    CUT_ANSWER,
    /** The request is held back and both connections stay open: neither side learns anything. */
    SILENCE,
    /**
     * The server has answered in full, but the client hears nothing; both connections stay open.
     */
    SILENCE_ANSWER;

    /** True for faults that let the request through and strike at its answer. */
    boolean strikesAnswer() {
        return this == CUT_ANSWER || this == SILENCE_ANSWER;
    }
}
