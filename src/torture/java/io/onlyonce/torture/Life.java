package io.onlyonce.torture;

import io.onlyonce.command.Command;

import java.time.Duration;
import java.util.SplittableRandom;

/**
 * How long the result of an id is replayed, and for how long after that the id is refused; some end
 * while their command is still at work, so that a retry may meet the purge of its own row.
 */
record Life(long ttlMillis, long refusedMillis) {

    static final Life FOR_EVER = new Life(-1, 0);

    private static final long[] TTLS = {15, 80, 400, 1_500};
    private static final long[] REFUSALS = {0, 15, 150, 700};

    static Life draw(SplittableRandom random) {
        return random.nextInt(3) > 0
                ? FOR_EVER
                : new Life(TTLS[random.nextInt(TTLS.length)], REFUSALS[random.nextInt(4)]);
    }

    /** What {@link #toString} has written. */
    static Life parse(String text) {
        String[] parts = text.split(" ");
        return new Life(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
    }

    boolean isForEver() {
        return ttlMillis < 0;
    }

    Command of(Command command) {
        return isForEver()
                ? command.withoutExpiry()
                : command.withTtl(Duration.ofMillis(ttlMillis), Duration.ofMillis(refusedMillis));
    }

    @Override
    public String toString() {
        return ttlMillis + " " + refusedMillis;
    }
}
