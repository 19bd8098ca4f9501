package io.onlyonce.compare;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Ways to do the same, one operation of each in an order that changes each time: what disturbs the
 * machine disturbs all of them. A ratio is made of the medians of one block.
 */
final class Interleaved {

    /** Prepares one operation, which is not timed. */
    @FunctionalInterface
    interface Operation {
        Timed next() throws Exception;
    }

    /** What is timed. */
    @FunctionalInterface
    interface Timed {
        void run() throws Exception;
    }

    /** Until the compiler has seen each way some thousand times; it is part of nobody's method. */
    private static final Duration WARM_UP = Duration.ofSeconds(25);

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Map<String, Operation> operations = new LinkedHashMap<>();
    private final Map<String, List<Double>> nanos = new LinkedHashMap<>();
    private final Map<String, List<Double>> bytes = new LinkedHashMap<>();
    private final Random random = new Random(1);
    private long done;

    Interleaved add(String name, Operation operation) {
        operations.put(name, operation);
        nanos.put(name, new ArrayList<>());
        bytes.put(name, new ArrayList<>());
        return this;
    }

    /** Fresh commands of a variant. */
    Interleaved add(String name, Variant variant) {
        return add(
                name,
                () -> {
                    String id = Business.id();
                    int account = random.nextInt(Business.ACCOUNTS);
                    return () -> variant.run(id, account);
                });
    }

    /** Blocks of so many of each, after some that warm up. */
    void run(Ground ground, Report report, Effort effort, int size) throws Exception {
        try (var apart = Apart.on(ground, report)) {
            run(report, effort, size);
        }
    }

    private void run(Report report, Effort effort, int size) throws Exception {
        report.progress("warming up");
        long start = System.nanoTime();
        for (int i = 0; i < 3 || System.nanoTime() - start < WARM_UP.toNanos(); i++) {
            block(effort.of(size));
            if (effort.isBrief()) {
                break;
            }
        }
        nanos.values().forEach(List::clear);
        bytes.values().forEach(List::clear);
        for (int i = 1; i <= effort.rounds(); i++) {
            block(effort.of(size));
            report.progress("block %d of %d, %d of each".formatted(i, effort.rounds(), size));
        }
    }

    /** How often each has run, while warming up too. */
    long operations() {
        return done;
    }

    private void block(int size) throws Exception {
        done += size;
        List<String> order = new ArrayList<>(operations.keySet());
        Map<String, long[]> time = new LinkedHashMap<>();
        Map<String, long[]> memory = new LinkedHashMap<>();
        order.forEach(name -> time.put(name, new long[size]));
        order.forEach(name -> memory.put(name, new long[size]));
        for (int i = 0; i < size; i++) {
            Collections.shuffle(order, random);
            for (String name : order) {
                Timed operation = operations.get(name).next();
                long allocated = THREADS.getCurrentThreadAllocatedBytes();
                long start = System.nanoTime();
                operation.run();
                time.get(name)[i] = System.nanoTime() - start;
                memory.get(name)[i] = THREADS.getCurrentThreadAllocatedBytes() - allocated;
            }
        }
        for (String name : order) {
            nanos.get(name).add(Spread.median(time.get(name)));
            bytes.get(name).add((double) Arrays.stream(memory.get(name)).sum() / size);
        }
    }

    /** The median time of one as a multiple of another's, block by block. */
    Spread against(String name, String baseline) {
        return Spread.ratios(nanos.get(name), nanos.get(baseline));
    }

    /** Median times in microseconds. */
    Spread micros(String name) {
        return Spread.of(nanos.get(name).stream().map(each -> each / 1_000).toList());
    }

    /** Microseconds that one takes beyond another. */
    Spread moreMicros(String name, String baseline) {
        return more(nanos.get(name), nanos.get(baseline), 1_000);
    }

    /** Bytes that the calling thread allocates for one, beyond those of another. */
    Spread moreBytes(String name, String baseline) {
        return more(bytes.get(name), bytes.get(baseline), 1);
    }

    private static Spread more(List<Double> values, List<Double> baseline, int unit) {
        List<Double> more = new ArrayList<>();
        for (int i = 0; i < values.size(); i++) {
            more.add((values.get(i) - baseline.get(i)) / unit);
        }
        return Spread.of(more);
    }
}
