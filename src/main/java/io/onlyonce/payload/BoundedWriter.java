package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_LARGE;

import java.io.Writer;

/** Text in memory that refuses to grow beyond a limit. */
final class BoundedWriter extends Writer {

    private final StringBuilder text = new StringBuilder();
    private final int limit;

    BoundedWriter(int limit) {
        this.limit = limit;
    }

    @Override
    public void write(char[] source, int from, int length) {
        if (length > limit - text.length()) {
            throw new InvalidPayloadException(TOO_LARGE, "the limit is " + limit + " bytes");
        }
        text.append(source, from, length);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}

    @Override
    public String toString() {
        return text.toString();
    }
}
