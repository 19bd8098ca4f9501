package io.onlyonce.payload;

import java.util.Arrays;

/** Bytes that grow at their end; whoever holds one may also look at and rearrange what is there. */
final class ByteSink {

    byte[] bytes;
    int length;

    ByteSink(int capacity) {
        bytes = new byte[capacity];
    }

    void put(int b) {
        reserve(1);
        bytes[length++] = (byte) b;
    }

    void put(byte[] source, int from, int to) {
        reserve(to - from);
        System.arraycopy(source, from, bytes, length, to - from);
        length += to - from;
    }

    void putAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            put(text.charAt(i));
        }
    }

    /** The length first, so that no two sequences of parts end as the same bytes. */
    void putFramed(byte[] part) {
        putInt(part.length);
        put(part, 0, part.length);
    }

    void putInt(int value) {
        put(value >>> 24);
        put(value >>> 16);
        put(value >>> 8);
        put(value);
    }

    byte[] toArray() {
        return Arrays.copyOf(bytes, length);
    }

    private void reserve(int more) {
        if (bytes.length - length < more) {
            bytes =
                    Arrays.copyOf(
                            bytes, Math.max(length + more, bytes.length + (bytes.length >> 1)));
        }
    }
}
