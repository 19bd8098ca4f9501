package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.EXPONENT_TOO_LARGE;
import static io.onlyonce.payload.InvalidPayloadException.Reason.MALFORMED;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_MANY_DIGITS;

/**
 * JSON numbers as exact decimals: digits are moved, never computed with, so no number is costly.
 *
 * <p>The spelling is described at {@link CanonicalJson}.
 */
final class JsonNumbers {

    /** Beyond every limit and digit count, and far from overflow when the two are added. */
    private static final int HUGE = 1_000_000_000;

    private final byte[] in;
    private final ByteSink out;
    private final JsonLimits limits;
    private int at;
    private int digits;
    private int trailingZeros;
    private boolean significant;

    private JsonNumbers(byte[] in, int from, ByteSink out, JsonLimits limits) {
        this.in = in;
        this.at = from;
        this.out = out;
        this.limits = limits;
    }

    /** Copies the number that begins here; the offset behind its end. */
    static int copy(byte[] in, int from, ByteSink out, JsonLimits limits) {
        var number = new JsonNumbers(in, from, out, limits);
        number.copy();
        return number.at;
    }

    private void copy() {
        int start = out.length;
        if (in[at] == '-') {
            out.put('-');
            at++;
        }
        if (peek() == '0') { // stands alone before the point
            copyDigit();
        } else {
            copyDigits();
        }
        int power = 0;
        if (peek() == '.') {
            at++;
            int whole = digits;
            copyDigits();
            power = whole - digits;
        }
        if ((peek() | 0x20) == 'e') {
            at++;
            power += exponent();
        }
        if (!significant) {
            out.length = start;
            out.put('0');
            return;
        }
        out.length -= trailingZeros;
        putPower(power + trailingZeros);
    }

    private void copyDigits() {
        requireDigit();
        while (isDigit()) {
            copyDigit();
        }
    }

    private void copyDigit() {
        if (++digits > limits.digits()) {
            throw new InvalidPayloadException(TOO_MANY_DIGITS, "the limit is " + limits.digits());
        }
        byte digit = in[at++];
        significant |= digit != '0';
        if (significant) {
            out.put(digit);
            trailingZeros = digit == '0' ? trailingZeros + 1 : 0;
        }
    }

    private int exponent() {
        boolean negative = peek() == '-';
        if (negative || peek() == '+') {
            at++;
        }
        requireDigit();
        int value = 0;
        while (isDigit()) {
            value = value < HUGE / 10 ? value * 10 + in[at] - '0' : HUGE;
            at++;
        }
        return negative ? -value : value;
    }

    private void putPower(int power) {
        if (Math.abs(power) > limits.exponent()) {
            throw new InvalidPayloadException(
                    EXPONENT_TOO_LARGE, "the limit is " + limits.exponent());
        }
        if (power != 0) {
            out.put('e');
            out.putAscii(Integer.toString(power));
        }
    }

    private void requireDigit() {
        if (!isDigit()) {
            throw InvalidPayloadException.at(MALFORMED, at);
        }
    }

    private boolean isDigit() {
        int b = peek();
        return b >= '0' && b <= '9';
    }

    private int peek() {
        return at < in.length ? in[at] : -1;
    }
}
