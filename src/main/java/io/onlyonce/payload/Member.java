package io.onlyonce.payload;

import java.util.Arrays;

/**
 * One written piece of an object or set: {@code "key":value,} or {@code element,}.
 *
 * <p>The key is a slice of the input where it has no escapes, so that ordering copies nothing.
 */
@SuppressWarnings("ArrayRecordComponent") // compared by the two methods below only
record Member(byte[] source, int keyStart, int keyEnd, int start, int end) {

    private static final byte[] NO_KEY = {};

    static Member of(byte[] in, int keyStart, int keyEnd, int start, ByteSink out) {
        for (int i = keyStart; i < keyEnd; i++) {
            if (in[i] == '\\') {
                byte[] key = JsonStrings.unescaped(in, keyStart, keyEnd);
                return new Member(key, 0, key.length, start, out.length);
            }
        }
        return new Member(in, keyStart, keyEnd, start, out.length);
    }

    static Member element(int start, ByteSink out) {
        return new Member(NO_KEY, 0, 0, start, out.length);
    }

    static int compareKeys(Member a, Member b) {
        return Utf8.compareAsUtf16(a.source, a.keyStart, a.keyEnd, b.source, b.keyStart, b.keyEnd);
    }

    static int compareBytes(Member a, Member b, byte[] written) {
        return Arrays.compareUnsigned(written, a.start, a.end, written, b.start, b.end);
    }
}
