package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Many callers on few ids, with a pool of 10: {@code -t 1} to {@code -t 64} for other numbers of
 * callers. Every id is called 16 times on average before a new one takes its place, so winners,
 * waiters and replays come in one mixture for all variants.
 */
@State(Scope.Benchmark)
@BenchmarkMode({Mode.Throughput, Mode.SampleTime})
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Threads(32)
public class ContentionBenchmark {

    private static final int CALLS = 16;

    @Param({"1", "10", "100", "1000"})
    public int ids;

    private final AtomicLong calls = new AtomicLong();
    private final String prefix = Business.id();
    private Ground ground;
    private Variant textbook;
    private Variant onlyOnce;

    @Setup
    public void open() throws SQLException {
        ground = Ground.openShared();
        var pool = ground.pool(10, Isolation.READ_COMMITTED);
        textbook = new Textbook(pool);
        onlyOnce = new Ours(pool, RunOptions.standard());
    }

    @TearDown
    public void close() throws Exception {
        ground.close();
    }

    @Benchmark
    public void textbook() throws SQLException {
        run(textbook);
    }

    @Benchmark
    public void onlyOnce() throws SQLException {
        run(onlyOnce);
    }

    private void run(Variant variant) throws SQLException {
        long age = calls.getAndIncrement() / ((long) CALLS * ids);
        int hot = ThreadLocalRandom.current().nextInt(ids);
        variant.run(prefix + ":" + age + ":" + hot, hot);
    }
}
