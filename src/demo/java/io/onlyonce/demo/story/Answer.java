package io.onlyonce.demo.story;

/** What a client hears. */
record Answer(Kind kind, String text) {

    enum Kind {
        RECEIPT,
        REFUSED,
        ERROR
    }

    static Answer receipt(String number) {
        return new Answer(Kind.RECEIPT, number);
    }

    static Answer refused(String reason) {
        return new Answer(Kind.REFUSED, reason);
    }

    /** Whether it was done is not known. */
    static Answer error() {
        return new Answer(Kind.ERROR, "an error");
    }

    boolean isReceipt() {
        return kind == Kind.RECEIPT;
    }

    @Override
    public String toString() {
        return isReceipt() ? "receipt " + text : kind == Kind.REFUSED ? '"' + text + '"' : text;
    }
}
