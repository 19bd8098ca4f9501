package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.LONE_SURROGATE;
import static io.onlyonce.payload.InvalidPayloadException.Reason.MALFORMED;

/** JSON strings: strict in what they accept, minimal in what they escape. */
final class JsonStrings {

    private static final String HEX = "0123456789abcdef";

    private JsonStrings() {}

    /**
     * Copies the string whose opening quote lies just before {@code from}; the offset behind its
     * end.
     */
    static int copy(byte[] in, int from, ByteSink out) {
        out.put('"');
        int plain = from; // what needs no change is copied in runs
        int at = from;
        while (at < in.length) {
            byte b = in[at];
            if (b >= ' ' && b != '"' && b != '\\') {
                at++;
            } else if (b < 0) {
                at = Utf8.skip(in, at);
            } else if (b == '\\') {
                out.put(in, plain, at);
                at = copyEscape(in, at, out);
                plain = at;
            } else if (b == '"') {
                out.put(in, plain, at);
                out.put('"');
                return at + 1;
            } else {
                throw InvalidPayloadException.at(MALFORMED, at); // a raw control character
            }
        }
        throw InvalidPayloadException.at(MALFORMED, at);
    }

    private static int copyEscape(byte[] in, int at, ByteSink out) {
        if (byteAt(in, at + 1) == 'u') {
            return copyUnicodeEscape(in, at, out);
        }
        putCharacter(simpleEscape(in, at + 1), out);
        return at + 2;
    }

    private static int simpleEscape(byte[] in, int at) {
        return switch (byteAt(in, at)) {
            case '"' -> '"';
            case '\\' -> '\\';
            case '/' -> '/';
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> throw InvalidPayloadException.at(MALFORMED, at);
        };
    }

    private static int copyUnicodeEscape(byte[] in, int at, ByteSink out) {
        char unit = (char) hex4(in, at + 2);
        if (!Character.isSurrogate(unit)) {
            putCharacter(unit, out);
            return at + 6;
        }
        if (Character.isHighSurrogate(unit)
                && byteAt(in, at + 6) == '\\'
                && byteAt(in, at + 7) == 'u') {
            char low = (char) hex4(in, at + 8);
            if (Character.isLowSurrogate(low)) {
                Utf8.put(Character.toCodePoint(unit, low), out);
                return at + 12;
            }
        }
        throw InvalidPayloadException.at(LONE_SURROGATE, at);
    }

    private static int hex4(byte[] in, int at) {
        int value = 0;
        for (int i = at; i < at + 4; i++) {
            int digit = Character.digit(byteAt(in, i), 16);
            if (digit < 0) {
                throw InvalidPayloadException.at(MALFORMED, i);
            }
            value = value << 4 | digit;
        }
        return value;
    }

    private static int byteAt(byte[] in, int at) {
        return at < in.length ? in[at] : -1;
    }

    private static void putCharacter(int c, ByteSink out) {
        switch (c) {
            case '"' -> out.putAscii("\\\"");
            case '\\' -> out.putAscii("\\\\");
            case '\b' -> out.putAscii("\\b");
            case '\f' -> out.putAscii("\\f");
            case '\n' -> out.putAscii("\\n");
            case '\r' -> out.putAscii("\\r");
            case '\t' -> out.putAscii("\\t");
            default -> {
                if (c < ' ') {
                    out.putAscii("\\u00");
                    out.put(HEX.charAt(c >> 4));
                    out.put(HEX.charAt(c & 0xf));
                } else {
                    Utf8.put(c, out);
                }
            }
        }
    }

    /** The characters of a valid string, escapes resolved, as UTF-8. */
    static byte[] unescaped(byte[] in, int from, int to) {
        var out = new ByteSink(to - from);
        int at = from;
        while (at < to) {
            if (in[at] != '\\') {
                out.put(in[at++]);
            } else if (in[at + 1] != 'u') {
                out.put(simpleEscape(in, at + 1));
                at += 2;
            } else {
                char unit = (char) hex4(in, at + 2);
                boolean pair = Character.isSurrogate(unit);
                Utf8.put(pair ? Character.toCodePoint(unit, (char) hex4(in, at + 8)) : unit, out);
                at += pair ? 12 : 6;
            }
        }
        return out.toArray();
    }
}
