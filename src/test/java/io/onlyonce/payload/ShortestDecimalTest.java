package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Random;

class ShortestDecimalTest {

    @ParameterizedTest
    @CsvSource({
        "0x1p0, 1",
        "0x0p0, 0",
        "-0x0p0, 0",
        "0x1.999999999999ap-4, 0.1",
        "0x0.0000000000001p-1022, 5e-324",
        "0x1.fffffffffffffp1023, 1.7976931348623157e308",
        "0x1p-1022, 2.2250738585072014e-308",
        "0x1.52d02c7e14af6p77, 2.0E23",
        "0x1.52d02c7e14af7p77, 2.0000000000000002E23",
        "0x1p-44, 5.684341886080802e-14",
        "0x1.0p53, 9007199254740992",
        "-0x1.8p0, -1.5",
        "0x1p-1074, 5e-324",
        "0x1p1023, 8.98846567431158e307"
    })
    void doubles_have_their_shortest_form(String hex, String decimal) {
        assertThat(ShortestDecimal.of(Double.parseDouble(hex))).isEqualByComparingTo(decimal);
    }

    @ParameterizedTest
    @CsvSource({
        "0x1p0, 1",
        "0x1.99999ap-4, 0.1",
        "0x0.000002p-126, 1e-45",
        "0x1.fffffep127, 3.4028235e38",
        "0x1p-126, 1.1754944e-38",
        "0x1.0p24, 16777216",
        "-0x1.19999ap0, -1.1",
        "0x1p90, 1.2379401e27"
    })
    void floats_have_their_shortest_form(String hex, String decimal) {
        assertThat(ShortestDecimal.of(Float.parseFloat(hex))).isEqualByComparingTo(decimal);
    }

    @Test
    void nothing_shorter_reads_back_and_nothing_as_short_is_nearer() {
        long seed = 42;
        var random = new Random(seed);
        for (int i = 0; i < 3_000; i++) {
            double value =
                    i % 3 == 0
                            ? Math.scalb(1.0, random.nextInt(2_000) - 1_000)
                            : Double.longBitsToDouble(random.nextLong());
            if (!Double.isFinite(value) || value == 0) {
                continue;
            }
            BigDecimal shortest = ShortestDecimal.of(value).stripTrailingZeros();
            assertThat(shortest.doubleValue()).as("%a, seed %d", value, seed).isEqualTo(value);
            assertNothingBetter(value, shortest, seed);
        }
    }

    /**
     * By brute force over the neighbours on each side, at one digit less and at the same length.
     */
    private static void assertNothingBetter(double value, BigDecimal shortest, long seed) {
        var exact = new BigDecimal(value);
        BigInteger digits = shortest.unscaledValue();
        for (int step = -2; step <= 2; step++) {
            var neighbour = new BigDecimal(digits.add(BigInteger.valueOf(step)), shortest.scale());
            if (neighbour.doubleValue() == value) {
                assertThat(neighbour.subtract(exact).abs())
                        .as("%a, seed %d", value, seed)
                        .isGreaterThanOrEqualTo(shortest.subtract(exact).abs());
            }
            var shorter =
                    new BigDecimal(
                            digits.divide(BigInteger.TEN).add(BigInteger.valueOf(step)),
                            shortest.scale() - 1);
            assertThat(shorter.doubleValue()).as("%a, seed %d", value, seed).isNotEqualTo(value);
        }
    }
}
