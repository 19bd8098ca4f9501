package io.onlyonce.compare;

import java.util.List;

/**
 * What a measure is to reach.
 *
 * @param says the goal in words
 * @param atMost true if less is better
 * @param upper true if the upper end of the middle half counts, not the median
 */
record Goal(
        String says,
        String comparison,
        String measure,
        String variant,
        double bound,
        boolean atMost,
        boolean upper) {

    static final List<Goal> ALL =
            List.of(
                    atMost(
                            "fresh, READ COMMITTED, p50 against bare",
                            "fresh",
                            "p50 against bare",
                            "OnlyOnce",
                            1.42),
                    atMost(
                            "fresh, SERIALIZABLE, p50 against bare",
                            "fresh",
                            "p50 against bare, SERIALIZABLE",
                            "OnlyOnce, SERIALIZABLE",
                            1.55),
                    atLeast(
                            "throughput of 8 threads against textbook",
                            "fresh",
                            "throughput of 8 threads against textbook",
                            "OnlyOnce",
                            1.25),
                    new Goal(
                            "p50 against hand-written (upper end)",
                            "fresh",
                            "p50 against hand-written",
                            "OnlyOnce",
                            1.06,
                            true,
                            true),
                    atMost(
                            "bytes allocated beyond hand-written",
                            "fresh",
                            "bytes allocated, more than hand-written",
                            "OnlyOnce",
                            6_144),
                    atMost(
                            "round trips added to bare",
                            "fresh",
                            "round trips added to bare",
                            "OnlyOnce",
                            1),
                    atMost(
                            "0.5 ms away, p50 against bare",
                            "network",
                            "p50 against bare at 0.5 ms",
                            "OnlyOnce",
                            1.38),
                    atMost(
                            "0.5 ms away, p50 against textbook",
                            "network",
                            "p50 against textbook at 0.5 ms",
                            "OnlyOnce",
                            0.76),
                    atMost(
                            "WAL against textbook",
                            "fresh",
                            "WAL against textbook",
                            "OnlyOnce",
                            0.85),
                    atMost("row versions, READ COMMITTED", "fresh", "row versions", "OnlyOnce", 1),
                    atMost(
                            "replay, p50 against textbook",
                            "replay",
                            "replay, p50 against textbook",
                            "OnlyOnce",
                            0.65),
                    atMost(
                            "the same with the retry hint",
                            "replay",
                            "replay, p50 against textbook",
                            "OnlyOnce, likely a retry",
                            0.40),
                    atMost(
                            "duplicate in flight, connection held, p99, ms",
                            "in-flight",
                            "p99, ms a duplicate holds its connection",
                            "OnlyOnce",
                            5),
                    atLeast(
                            "unrelated throughput under a hot duplicate",
                            "pressure",
                            "unrelated throughput kept",
                            "OnlyOnce, default policy",
                            0.85),
                    atLeast(
                            "the same against textbook, winners of 200 ms",
                            "pressure",
                            "under pressure, against textbook",
                            "OnlyOnce, default, winner takes 200 ms",
                            10),
                    falseAborts("empty"),
                    falseAborts("30 rows, analysed"),
                    falseAborts("200,000 rows"),
                    atMost(
                            "claim at 5 million rows against 10 thousand, time-ordered ids",
                            "growth",
                            "claim, p50 against 10,000 rows",
                            "5,000,000 rows, time-ordered ids",
                            1.10),
                    relay("DELETE", "transaction-outbox, flush", 20),
                    relay("DELETE", "loop, UPDATE", 1.5),
                    relay("KEEP", "transaction-outbox, flush", 20),
                    relay("KEEP", "loop, UPDATE", 1.0),
                    atMost(
                            "relay, % out of order with 4 relays",
                            "order", "% out of order, 4 relays", "OnlyOnce, KEEP", 0),
                    atMost(
                            "hashing 64 KB JSON against parsing",
                            "hashing",
                            "hashing 64 KB against parsing",
                            "OnlyOnce",
                            2.5));

    private static Goal atMost(
            String says, String comparison, String measure, String variant, double bound) {
        return new Goal(says, comparison, measure, variant, bound, true, false);
    }

    private static Goal atLeast(
            String says, String comparison, String measure, String variant, double bound) {
        return new Goal(says, comparison, measure, variant, bound, false, false);
    }

    private static Goal falseAborts(String table) {
        return atMost(
                "false aborts, SERIALIZABLE, " + table + ", % beyond twice bare",
                "false-aborts",
                "% rolled back, beyond twice bare",
                "SERIALIZABLE, " + table,
                0.2);
    }

    private static Goal relay(String mode, String against, double bound) {
        return atLeast(
                "relay, " + mode + ", speed against " + against,
                "relay",
                "speed against " + against,
                "OnlyOnce, " + mode,
                bound);
    }

    boolean isMet(Spread value) {
        double counts = upper ? value.high() : value.median();
        return atMost ? counts <= bound : counts >= bound;
    }

    /** The bound with its sign. */
    String sign() {
        return (atMost ? "\u2264 " : "\u2265 ") + Spread.brief(bound);
    }
}
