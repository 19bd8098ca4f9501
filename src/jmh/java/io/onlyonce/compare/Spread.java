package io.onlyonce.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;

/**
 * Numbers of one kind.
 *
 * @param low where the middle half begins
 * @param high where it ends
 */
record Spread(double median, double low, double high, int n) {

    static Spread of(Collection<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return new Spread(
                quantile(sorted, 0.5),
                quantile(sorted, 0.25),
                quantile(sorted, 0.75),
                sorted.length);
    }

    /** One by one: what was measured side by side. */
    static Spread ratios(List<Double> values, List<Double> baseline) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            ratios.add(values.get(i) / Math.max(baseline.get(i), 1e-9));
        }
        return of(ratios);
    }

    /** The same for each of n. */
    static Spread counted(double value, int n) {
        return new Spread(value, value, value, n);
    }

    static double median(long[] values) {
        return quantile(Arrays.stream(values).asDoubleStream().sorted().toArray(), 0.5);
    }

    private static double quantile(double[] sorted, double share) {
        double at = share * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT, "%s (%s to %s, n=%d)", number(median), number(low), number(high), n);
    }

    /** As in a table: as many digits as help. */
    static String brief(double value) {
        double size = Math.abs(value);
        if (value == Math.rint(value) || size >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
    }

    /** Median and middle half, for a table. */
    String cell() {
        return low == high && low == median
                ? brief(median)
                : "%s (%s to %s)".formatted(brief(median), brief(low), brief(high));
    }

    /** Three digits where they say something. */
    static String number(double value) {
        return String.format(Locale.ROOT, Math.abs(value) >= 100 ? "%.0f" : "%.3f", value);
    }
}
