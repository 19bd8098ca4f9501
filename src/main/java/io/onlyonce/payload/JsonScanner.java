package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.BYTE_ORDER_MARK;
import static io.onlyonce.payload.InvalidPayloadException.Reason.EMPTY;
import static io.onlyonce.payload.InvalidPayloadException.Reason.MALFORMED;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_DEEP;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_LARGE;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TRAILING_CONTENT;

/**
 * One pass over the bytes of one JSON text, writing its canonical form as it goes.
 *
 * <p>A scanner of our own rather than Jackson's: Jackson decodes UTF-8 leniently and to chars,
 * quotes the payload in its messages and reads numbers its own way, so most of this would be needed
 * on top of it.
 */
final class JsonScanner {

    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};
    private static final byte[] NULL = {'n', 'u', 'l', 'l'};

    private final byte[] in;
    private final JsonLimits limits;
    private final ByteSink out;
    private final Members members = new Members();
    private int at;

    JsonScanner(byte[] utf8, JsonLimits limits) {
        if (utf8.length > limits.bytes()) {
            throw new InvalidPayloadException(
                    TOO_LARGE, "the limit is " + limits.bytes() + " bytes");
        }
        this.in = utf8;
        this.limits = limits;
        this.out = new ByteSink(utf8.length + 16);
    }

    ByteSink canonical() {
        begin();
        value(0);
        end();
        return out;
    }

    /**
     * Sorts the elements of the outermost array by their canonical bytes; another value stays as it
     * is.
     */
    ByteSink canonicalSet() {
        begin();
        if (in[at] == '[') {
            int start = members.size();
            array(1, true);
            members.sortElements(start, out);
        } else {
            value(0);
        }
        end();
        return out;
    }

    private void begin() {
        refuseByteOrderMark();
        if (next() < 0) {
            throw new InvalidPayloadException(EMPTY);
        }
    }

    private void end() {
        if (next() >= 0) {
            throw InvalidPayloadException.at(TRAILING_CONTENT, at);
        }
    }

    private void value(int depth) {
        switch (next()) {
            case '{' -> object(nested(depth));
            case '[' -> array(nested(depth), false);
            case '"' -> at = JsonStrings.copy(in, at + 1, out);
            case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9' ->
                    at = JsonNumbers.copy(in, at, out, limits);
            case 't' -> literal(TRUE);
            case 'f' -> literal(FALSE);
            case 'n' -> literal(NULL);
            default -> throw unexpected();
        }
    }

    private int nested(int depth) {
        if (depth == limits.depth()) {
            throw new InvalidPayloadException(TOO_DEEP, "the limit is " + depth + " levels");
        }
        return depth + 1;
    }

    /**
     * Each member is written with a comma behind it, so that members can change places as whole
     * pieces.
     */
    private void object(int depth) {
        at++;
        out.put('{');
        if (next() == '}') {
            at++;
            out.put('}');
            return;
        }
        int first = members.size();
        do {
            expect('"');
            int key = at;
            int start = out.length;
            at = JsonStrings.copy(in, at, out);
            int keyEnd = at - 1;
            expect(':');
            out.put(':');
            value(depth);
            out.put(',');
            members.add(Member.of(in, key, keyEnd, start, out));
        } while (comma());
        expect('}');
        members.sortKeys(first, out);
        out.bytes[out.length - 1] = '}';
    }

    private void array(int depth, boolean remember) {
        at++;
        out.put('[');
        if (next() == ']') {
            at++;
            out.put(']');
            return;
        }
        do {
            int start = out.length;
            value(depth);
            out.put(',');
            if (remember) {
                members.add(Member.element(start, out));
            }
        } while (comma());
        expect(']');
        out.bytes[out.length - 1] = ']';
    }

    private boolean comma() {
        boolean more = next() == ',';
        at += more ? 1 : 0;
        return more;
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw unexpected();
        }
        at++;
    }

    private void literal(byte[] word) {
        for (byte letter : word) {
            if (at == in.length || in[at] != letter) {
                throw unexpected();
            }
            at++;
        }
        out.put(word, 0, word.length);
    }

    /** The next byte that is not whitespace, unsigned and not yet consumed; -1 at the end. */
    private int next() {
        while (at < in.length) {
            byte b = in[at];
            if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
                return b & 0xff;
            }
            at++;
        }
        return -1;
    }

    private InvalidPayloadException unexpected() {
        if (at < in.length && in[at] < 0) {
            Utf8.skip(in, at); // tells apart text in a wrong encoding from a stray character
        }
        return InvalidPayloadException.at(MALFORMED, at);
    }

    private void refuseByteOrderMark() {
        boolean mark =
                startsWith(0xEF, 0xBB, 0xBF)
                        || startsWith(0xFE, 0xFF) // UTF-16, big endian
                        || startsWith(0xFF, 0xFE) // UTF-16 and UTF-32, little endian
                        || startsWith(0, 0, 0xFE, 0xFF); // UTF-32, big endian
        if (mark) {
            throw new InvalidPayloadException(BYTE_ORDER_MARK);
        }
    }

    private boolean startsWith(int... prefix) {
        for (int i = 0; i < prefix.length; i++) {
            if (i == in.length || (in[i] & 0xff) != prefix[i]) {
                return false;
            }
        }
        return true;
    }
}
