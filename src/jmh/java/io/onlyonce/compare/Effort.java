package io.onlyonce.compare;

import java.time.Duration;

/**
 * How much of everything a comparison does.
 *
 * @param rounds how often each measure is taken
 * @param share of the usual size, 1 for all of it; less only to see that a comparison still runs
 */
record Effort(int rounds, double share) {

    static Effort usual(int rounds) {
        return new Effort(rounds, 1);
    }

    /** Every comparison once: its counts are good, its times say nothing. */
    static Effort brief() {
        return new Effort(1, 0.01);
    }

    boolean isBrief() {
        return share < 1;
    }

    /** So many, or the share of them. */
    int of(int usual) {
        return Math.max(1, (int) (usual * share));
    }

    Duration of(Duration usual) {
        return isBrief() ? usual.dividedBy(20) : usual;
    }
}
