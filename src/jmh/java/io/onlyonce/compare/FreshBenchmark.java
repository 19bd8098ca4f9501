package io.onlyonce.compare;

import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A command that nobody has sent before; with {@code -prof gc} for what it allocates. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
public class FreshBenchmark {

    private static final int POOL = 8;

    private Ground ground;
    private Variant bare;
    private Variant textbook;
    private Variant handWritten;
    private Variant onlyOnce;
    private Variant bareSerializable;
    private Variant onlyOnceSerializable;

    @Setup
    public void open() throws SQLException {
        ground = Ground.openShared();
        var pool = ground.pool(POOL, Isolation.READ_COMMITTED);
        var serializable = ground.pool(POOL, Isolation.SERIALIZABLE);
        RunOptions standard = RunOptions.standard();
        bare = new Bare(pool);
        textbook = new Textbook(pool);
        handWritten = new HandWritten(pool);
        onlyOnce = new Ours(pool, standard);
        bareSerializable = new Bare(serializable);
        onlyOnceSerializable =
                new Ours(serializable, standard.withTransaction(TransactionOptions.serializable()));
    }

    @TearDown
    public void close() throws Exception {
        ground.close();
    }

    @Benchmark
    public void bare() throws SQLException {
        run(bare);
    }

    @Benchmark
    public void textbook() throws SQLException {
        run(textbook);
    }

    @Benchmark
    public void handWritten() throws SQLException {
        run(handWritten);
    }

    @Benchmark
    public void onlyOnce() throws SQLException {
        run(onlyOnce);
    }

    @Benchmark
    public void bareSerializable() throws SQLException {
        run(bareSerializable);
    }

    @Benchmark
    public void onlyOnceSerializable() throws SQLException {
        run(onlyOnceSerializable);
    }

    private static void run(Variant variant) throws SQLException {
        variant.run(Business.id(), ThreadLocalRandom.current().nextInt(Business.ACCOUNTS));
    }
}
