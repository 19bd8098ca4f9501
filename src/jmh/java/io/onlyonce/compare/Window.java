package io.onlyonce.compare;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A stretch of time in which workers do unrelated commands, and others may repeat one. */
final class Window {

    private static final int WORKERS = 4;
    private static final int REPEATERS = 32;
    private static final int HOT_ACCOUNT = Business.ACCOUNTS - 1;
    private static final Duration RUN_UP = Duration.ofMillis(200);

    private final Variant unrelated;
    private final Duration length;
    private final int workers;
    private final AtomicLong completed = new AtomicLong();
    private final AtomicLong repeated = new AtomicLong();
    private final CountDownLatch inFlight = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Callable<Void>> others = new ArrayList<>();

    private volatile String hot = "none";
    private long done;
    private long answered;

    Window(Variant unrelated, Duration length) {
        this(unrelated, length, WORKERS);
    }

    Window(Variant unrelated, Duration length, int workers) {
        this.workers = workers;
        this.unrelated = unrelated;
        this.length = length;
    }

    /** Keeps one command after the other in flight for so long, and repeats it all the time. */
    Window under(Variant winner, Variant duplicate, Duration held) {
        others.add(() -> win(winner, held));
        for (int i = 0; i < REPEATERS; i++) {
            others.add(() -> repeat(duplicate));
        }
        return this;
    }

    Window run() throws Exception {
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<Void>> tasks = new ArrayList<>();
        others.forEach(task -> tasks.add(threads.submit(task)));
        if (!others.isEmpty()) {
            inFlight.await();
        }
        for (int i = 0; i < workers; i++) {
            int worker = i;
            tasks.add(threads.submit(() -> work(worker)));
        }
        Pressure.pause(RUN_UP);
        long before = completed.get();
        long answeredBefore = repeated.get();
        Pressure.pause(length);
        done = completed.get() - before;
        answered = repeated.get() - answeredBefore;
        end.countDown();
        for (Future<Void> task : tasks) {
            task.get(60, TimeUnit.SECONDS);
        }
        threads.shutdown();
        return this;
    }

    long done() {
        return done;
    }

    long answered() {
        return answered;
    }

    private Void work(int worker) throws Exception {
        while (!over()) {
            // The last worker's share ends before the hot account.
            unrelated.run(Business.id(), Business.account(worker, workers + 1));
            completed.incrementAndGet();
        }
        return null;
    }

    private Void win(Variant winner, Duration held) throws Exception {
        while (!over()) {
            String id = Business.id();
            winner.run(id, HOT_ACCOUNT, () -> stayInFlight(id, held));
        }
        return null;
    }

    private void stayInFlight(String id, Duration held) {
        hot = id;
        inFlight.countDown();
        try {
            end.await(held.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Void repeat(Variant duplicate) throws Exception {
        inFlight.await();
        while (!over()) {
            duplicate.run(hot, HOT_ACCOUNT);
            repeated.incrementAndGet();
        }
        return null;
    }

    private boolean over() {
        return end.getCount() == 0;
    }
}
