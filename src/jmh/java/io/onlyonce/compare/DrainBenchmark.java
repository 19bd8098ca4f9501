package io.onlyonce.compare;

import io.onlyonce.outbox.OutboxMode;
import io.onlyonce.tx.Isolation;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import java.util.concurrent.TimeUnit;

/** Draining a backlog into a publisher that does nothing, by the relay and by hand. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 3)
@Measurement(iterations = 10)
public class DrainBenchmark {

    @Param({"10000"})
    public int rows;

    @Param({"DELETE", "KEEP", "loop"})
    public String way;

    private Ground ground;
    private Drain drain;

    @Setup
    public void open() throws Exception {
        ground = Ground.openShared();
        SkipLocked.create(ground);
        var pool = ground.pool(3, Isolation.READ_COMMITTED);
        drain =
                way.equals("loop")
                        ? new SkipLocked(pool, SkipLocked.EQUAL, false, batch -> {})
                        : new RelayDrain(pool, OutboxMode.valueOf(way));
    }

    @Setup(Level.Invocation)
    public void fill() throws Exception {
        drain.fill(rows);
        Drain.level(ground, way.equals("loop") ? SkipLocked.EQUAL : RelayDrain.TABLE);
    }

    @TearDown
    public void close() throws Exception {
        ground.close();
    }

    @Benchmark
    public void drain() throws Exception {
        drain.drain(rows);
    }
}
