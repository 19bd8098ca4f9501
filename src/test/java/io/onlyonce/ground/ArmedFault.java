package io.onlyonce.ground;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** A fault that waits for its statement, a given number of times. */
final class ArmedFault {

    static final ArmedFault NONE = new ArmedFault(Fault.CUT_REQUEST, "", 0);

    private final Fault kind;
    private final String keyword;
    private final Pattern pattern;
    private final AtomicInteger left;
    private final CountDownLatch unfired;

    ArmedFault(Fault kind, String keyword, int times) {
        this.kind = kind;
        this.keyword = keyword;
        // Whole words, so that COMMIT does not mean a column called commit_time.
        this.pattern =
                Pattern.compile(
                        "(?<!\\w)" + Pattern.quote(keyword) + "(?!\\w)", Pattern.CASE_INSENSITIVE);
        this.left = new AtomicInteger(times);
        this.unfired = new CountDownLatch(times);
    }

    Fault kind() {
        return kind;
    }

    /** True if this flight is one to strike; each true uses up one of the times. */
    boolean takes(Flight flight) {
        return flight.statements().stream().anyMatch(sql -> pattern.matcher(sql).find())
                && left.getAndUpdate(times -> Math.max(0, times - 1)) > 0;
    }

    void fired() {
        unfired.countDown();
    }

    boolean hasFired() {
        return unfired.getCount() == 0;
    }

    void awaitFired(Duration deadline) throws InterruptedException {
        if (!unfired.await(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new AssertionError(
                    "waited %s in vain until %s struck %s; %d still to come"
                            .formatted(
                                    Await.say(deadline),
                                    kind.name().toLowerCase(Locale.ROOT),
                                    keyword,
                                    unfired.getCount()));
        }
    }
}
