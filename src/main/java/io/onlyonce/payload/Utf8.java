package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.INVALID_UTF8;

import java.util.Arrays;

/** Strict UTF-8 as the Unicode standard's table 3-7 has it: no overlong forms, no surrogates. */
final class Utf8 {

    private Utf8() {}

    /**
     * The offset behind the character of two to four bytes that begins here, if it is a valid one.
     */
    static int skip(byte[] in, int at) {
        int lead = in[at] & 0xff;
        int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (lead < 0xC2
                || lead > 0xF4
                || at + length > in.length
                || !second(lead, in[at + 1] & 0xff)) {
            throw InvalidPayloadException.at(INVALID_UTF8, at);
        }
        for (int i = at + 2; i < at + length; i++) {
            if ((in[i] & 0xC0) != 0x80) {
                throw InvalidPayloadException.at(INVALID_UTF8, at);
            }
        }
        return at + length;
    }

    private static boolean second(int lead, int b) {
        // Below: overlong. Above: surrogates, and what is beyond U+10FFFF.
        int low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        int high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        return b >= low && b <= high;
    }

    static void put(int codePoint, ByteSink out) {
        if (codePoint < 0x80) {
            out.put(codePoint);
        } else if (codePoint < 0x800) {
            out.put(0xC0 | codePoint >> 6);
            out.put(tail(codePoint, 0));
        } else if (codePoint < 0x10000) {
            out.put(0xE0 | codePoint >> 12);
            out.put(tail(codePoint, 6));
            out.put(tail(codePoint, 0));
        } else {
            out.put(0xF0 | codePoint >> 18);
            out.put(tail(codePoint, 12));
            out.put(tail(codePoint, 6));
            out.put(tail(codePoint, 0));
        }
    }

    private static int tail(int codePoint, int shift) {
        return 0x80 | ((codePoint >> shift) & 0x3F);
    }

    /** Orders two slices of valid UTF-8 as their UTF-16 code units would be. */
    static int compareAsUtf16(byte[] a, int aFrom, int aTo, byte[] b, int bFrom, int bTo) {
        int same = Arrays.mismatch(a, aFrom, aTo, b, bFrom, bTo);
        if (same < 0) {
            return 0;
        }
        if (same == aTo - aFrom || same == bTo - bFrom) {
            return Integer.compare(aTo - aFrom, bTo - bFrom);
        }
        return Integer.compare(utf16Rank(a[aFrom + same]), utf16Rank(b[bFrom + same]));
    }

    /**
     * Characters of four bytes are surrogates in UTF-16 and sort before U+E000 to U+FFFF (EE, EF).
     */
    private static int utf16Rank(byte b) {
        int unsigned = b & 0xff;
        return unsigned == 0xEE || unsigned == 0xEF ? unsigned + 0x100 : unsigned;
    }
}
