package io.onlyonce.payload;

/**
 * How much JSON a payload may hold before it is refused, checked before anything costly is done.
 *
 * @param bytes the longest text, in bytes of UTF-8
 * @param depth the deepest nesting of objects and arrays, at most 1,000
 * @param digits the most digits one number may be written with, leading and trailing zeros included
 * @param exponent the largest power of ten, up or down, once a number is written as an integer
 *     times a power of ten
 */
public record JsonLimits(int bytes, int depth, int digits, int exponent) {

    /** 1 MB, 200 levels, 1,000 digits, exponents within ±1,000. */
    public static final JsonLimits DEFAULTS = new JsonLimits(1_048_576, 200, 1_000, 1_000);

    /** Refuses limits that would let nothing or too much through. */
    public JsonLimits {
        require(bytes >= 1, "bytes must be at least 1");
        require(depth >= 1 && depth <= 1_000, "depth must be within 1 and 1,000");
        require(digits >= 1 && digits <= 1_000_000, "digits must be within 1 and 1,000,000");
        require(exponent >= 0 && exponent <= 1_000_000, "exponent must be within 0 and 1,000,000");
    }

    /** These limits with another size. */
    public JsonLimits withBytes(int bytes) {
        return new JsonLimits(bytes, depth, digits, exponent);
    }

    /** These limits with another depth. */
    public JsonLimits withDepth(int depth) {
        return new JsonLimits(bytes, depth, digits, exponent);
    }

    /** These limits with another number of digits. */
    public JsonLimits withDigits(int digits) {
        return new JsonLimits(bytes, depth, digits, exponent);
    }

    /** These limits with another exponent. */
    public JsonLimits withExponent(int exponent) {
        return new JsonLimits(bytes, depth, digits, exponent);
    }

    private static void require(boolean holds, String sentence) {
        if (!holds) {
            throw new IllegalArgumentException("JSON limits: " + sentence);
        }
    }
}
