package io.onlyonce.http;

import io.onlyonce.http.InvalidIdempotencyKeyException.Reason;

/**
 * A structured field (RFC 9651, before it 8941) that is an Item whose value is a String. Parameters
 * are read, because a malformed one makes the field malformed, and then ignored, as the RFC asks
 * for those that nobody has defined.
 */
final class StructuredString {

    private static final int INTEGER_DIGITS = 15;
    private static final int DECIMAL_DIGITS = 12;
    private static final int FRACTION_DIGITS = 3;

    private final String text;
    private int at;

    StructuredString(String text) {
        this.text = text;
    }

    /** Only spaces: nothing else may surround an Item. */
    static String withoutSpaces(String text) {
        int from = 0;
        int to = text.length();
        while (from < to && text.charAt(from) == ' ') {
            from++;
        }
        while (from < to && text.charAt(to - 1) == ' ') {
            to--;
        }
        return text.substring(from, to);
    }

    String value() {
        String value = string();
        parameters();
        if (at < text.length()) {
            spaces();
            throw peek() == ','
                    ? new InvalidIdempotencyKeyException(Reason.SEVERAL_VALUES)
                    : malformed();
        }
        return value;
    }

    private String string() {
        expect('"');
        var value = new StringBuilder();
        while (true) {
            char c = next();
            if (c == '"') {
                return value.toString();
            }
            if (c == '\\') {
                c = next();
                if (c != '"' && c != '\\') {
                    throw malformed();
                }
            } else if (c < ' ' || c > '~') {
                throw malformed();
            }
            value.append(c);
        }
    }

    private void parameters() {
        while (peek() == ';') {
            at++;
            spaces();
            char first = next();
            if (!isLower(first) && first != '*') {
                throw malformed();
            }
            while (isLower(peek()) || isDigit(peek()) || isOneOf("_-.*", peek())) {
                at++;
            }
            if (peek() == '=') {
                at++;
                bareItem();
            }
        }
    }

    private void bareItem() {
        char c = peek();
        if (c == '"') {
            string();
        } else if (c == '?') {
            at++;
            char bit = next();
            if (bit != '0' && bit != '1') {
                throw malformed();
            }
        } else if (c == ':') {
            byteSequence();
        } else if (c == '@') {
            at++;
            if (number()) {
                throw malformed(); // a date has no fraction
            }
        } else if (c == '%') {
            displayString();
        } else if (c == '-' || isDigit(c)) {
            number();
        } else if (c == '*' || isLetter(c)) {
            while (isTokenCharacter(peek()) || isOneOf(":/", peek())) {
                at++;
            }
        } else {
            throw malformed();
        }
    }

    /** True if it is a decimal. */
    private boolean number() {
        if (peek() == '-') {
            at++;
        }
        int integer = digits();
        boolean decimal = peek() == '.';
        if (integer == 0 || integer > (decimal ? DECIMAL_DIGITS : INTEGER_DIGITS)) {
            throw malformed();
        }
        if (decimal) {
            at++;
            int fraction = digits();
            if (fraction == 0 || fraction > FRACTION_DIGITS) {
                throw malformed();
            }
        }
        return decimal;
    }

    private int digits() {
        int from = at;
        while (isDigit(peek())) {
            at++;
        }
        return at - from;
    }

    /** The alphabet, then up to two signs of equality; whether it decodes is nobody's concern. */
    private void byteSequence() {
        expect(':');
        while (isLetter(peek()) || isDigit(peek()) || isOneOf("+/", peek())) {
            at++;
        }
        for (int padding = 0; padding < 2 && peek() == '='; padding++) {
            at++;
        }
        expect(':');
    }

    /** Printable ASCII and lower-case percent escapes, new in RFC 9651. */
    private void displayString() {
        expect('%');
        expect('"');
        for (char c = next(); c != '"'; c = next()) {
            if (c < ' ' || c > '~') {
                throw malformed();
            }
            if (c == '%') {
                lowerHex();
                lowerHex();
            }
        }
    }

    private void lowerHex() {
        char c = next();
        if (!isDigit(c) && (c < 'a' || c > 'f')) {
            throw malformed();
        }
    }

    private void spaces() {
        while (peek() == ' ') {
            at++;
        }
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw malformed();
        }
    }

    private char next() {
        if (at == text.length()) {
            throw malformed();
        }
        return text.charAt(at++);
    }

    /** NUL, which is nowhere allowed, at the end. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private static boolean isLower(char c) {
        return c >= 'a' && c <= 'z';
    }

    private static boolean isLetter(char c) {
        return isLower(c) || (c >= 'A' && c <= 'Z');
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    /** The characters of a header name. */
    static boolean isTokenCharacter(char c) {
        return isLetter(c) || isDigit(c) || isOneOf("!#$%&'*+-.^_`|~", c);
    }

    private static boolean isOneOf(String characters, char c) {
        return characters.indexOf(c) >= 0;
    }

    private static InvalidIdempotencyKeyException malformed() {
        return new InvalidIdempotencyKeyException(Reason.MALFORMED);
    }
}
