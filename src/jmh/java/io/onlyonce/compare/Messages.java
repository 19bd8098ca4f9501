package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.inbox.Inbox;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.inbox.MessageWork;
import io.onlyonce.tx.Isolation;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import javax.sql.DataSource;

/**
 * A poll of 500 messages whose work does nothing, as one batch against one call for each, in turn:
 * messages that nobody has sent before, and the same ones delivered again. First the round trips.
 */
final class Messages implements Compare.Comparison {

    private static final int POLL = 500;

    private static final MessageWork<RuntimeException> NOTHING = incoming -> {};

    /** One way to process a poll. */
    private interface Way {
        void process(Inbox inbox, List<InboxMessage> poll) throws Exception;
    }

    private static void together(Inbox inbox, List<InboxMessage> poll) {
        if (!inbox.processAll(poll, NOTHING).isDone()) {
            throw new IllegalStateException("some are not done");
        }
    }

    private static void oneByOne(Inbox inbox, List<InboxMessage> poll) throws Exception {
        for (InboxMessage message : poll) {
            if (!inbox.process(message, NOTHING).isDone()) {
                throw new IllegalStateException("one is not done");
            }
        }
    }

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        trips(ground, report);
        try (var pool = ground.pool(1, Isolation.READ_COMMITTED)) {
            time(inbox(pool), report, effort.rounds());
        }
    }

    private static Inbox inbox(DataSource pool) throws Exception {
        return OnlyOnce.on(pool).withoutExpiry().build().inbox("comparison");
    }

    private static List<InboxMessage> poll(int size) {
        return Stream.generate(Business::id)
                .limit(size)
                .map(id -> InboxMessage.of("acme", "deposits", id, Business.payload(1)))
                .toList();
    }

    private static void trips(Ground ground, Report report) throws Exception {
        try (var proxy = ground.proxy();
                var pool = ground.poolThrough(proxy, Isolation.READ_COMMITTED)) {
            Inbox inbox = inbox(pool);
            for (int i = 0; i < 10; i++) {
                together(inbox, poll(POLL)); // until the driver has prepared
            }
            for (int size : new int[] {1, 100, 200, POLL}) {
                List<Double> fresh = new ArrayList<>();
                List<Double> again = new ArrayList<>();
                for (int i = 0; i < 10; i++) {
                    List<InboxMessage> poll = poll(size);
                    for (List<Double> trips : List.of(fresh, again)) {
                        proxy.resetCounters();
                        together(inbox, poll);
                        trips.add((double) proxy.roundTrips());
                    }
                }
                report.add("round trips, fresh", "a batch of " + size, Spread.of(fresh));
                report.add("round trips, again", "a batch of " + size, Spread.of(again));
            }
        }
    }

    private static void time(Inbox inbox, Report report, int rounds) throws Exception {
        List<Double> fresh = new ArrayList<>();
        List<Double> again = new ArrayList<>();
        for (int round = -2; round <= rounds; round++) { // three to warm up
            boolean first = round % 2 == 0;
            List<InboxMessage> batch = poll(POLL);
            List<InboxMessage> singles = poll(POLL);
            double freshRatio = ratio(inbox, batch, singles, first);
            double againRatio = ratio(inbox, batch, singles, first);
            report.progress(
                    "round %d: %.1f times as fast, again %.1f"
                            .formatted(round, freshRatio, againRatio));
            if (round > 0) {
                fresh.add(freshRatio);
                again.add(againRatio);
            }
        }
        report.add("500 calls against a batch", "fresh", Spread.of(fresh), "goal: 8 or more");
        report.add("500 calls against a batch", "again", Spread.of(again));
    }

    private static double ratio(
            Inbox inbox, List<InboxMessage> batch, List<InboxMessage> singles, boolean batchFirst)
            throws Exception {
        double one = batchFirst ? nanos(inbox, batch, Messages::together) : 0;
        double calls = nanos(inbox, singles, Messages::oneByOne);
        double together = batchFirst ? one : nanos(inbox, batch, Messages::together);
        return calls / together;
    }

    private static long nanos(Inbox inbox, List<InboxMessage> poll, Way way) throws Exception {
        long start = System.nanoTime();
        way.process(inbox, poll);
        return System.nanoTime() - start;
    }
}
