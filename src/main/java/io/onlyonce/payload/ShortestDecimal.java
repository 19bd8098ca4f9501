package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.NOT_A_NUMBER;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The decimal with the fewest digits that reads back as the same float; of those the nearest, then
 * the even one.
 *
 * <p>{@code Double.toString} is not that before JDK 19, so its answer is only where the search
 * begins.
 */
final class ShortestDecimal {

    private ShortestDecimal() {}

    static BigDecimal of(double value) {
        if (!Double.isFinite(value)) {
            throw new InvalidPayloadException(NOT_A_NUMBER);
        }
        return shortest(
                new BigDecimal(value),
                new BigDecimal(Double.toString(value)),
                decimal -> Double.parseDouble(decimal.toString()) == value);
    }

    static BigDecimal of(float value) {
        if (!Float.isFinite(value)) {
            throw new InvalidPayloadException(NOT_A_NUMBER);
        }
        return shortest(
                new BigDecimal(value),
                new BigDecimal(Float.toString(value)),
                decimal -> Float.parseFloat(decimal.toString()) == value);
    }

    /** What reads back with n digits does so with n + 1, so the first failure ends the search. */
    private static BigDecimal shortest(
            BigDecimal exact, BigDecimal printed, Predicate<BigDecimal> readsBack) {
        int digits = printed.stripTrailingZeros().precision();
        BigDecimal best = printed;
        Optional<BigDecimal> shorter = nearest(exact, digits, readsBack);
        while (shorter.isPresent()) {
            best = shorter.get();
            shorter = --digits > 0 ? nearest(exact, digits, readsBack) : Optional.empty();
        }
        return best;
    }

    /**
     * Of the two neighbours with so many digits the nearer, if it reads back, or else the other.
     */
    private static Optional<BigDecimal> nearest(
            BigDecimal exact, int digits, Predicate<BigDecimal> readsBack) {
        // Below a power of two floats lie closer, so the farther neighbour above may be the one
        // that does.
        return Stream.of(RoundingMode.HALF_EVEN, RoundingMode.UP, RoundingMode.DOWN)
                .map(mode -> exact.round(new MathContext(digits, mode)))
                .filter(readsBack)
                .findFirst();
    }
}
