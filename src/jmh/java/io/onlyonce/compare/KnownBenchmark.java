package io.onlyonce.compare;

import io.onlyonce.command.Command;
import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.CommandRunner;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.Outcome;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.command.RunOptions;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.Isolation;

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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A command that is known: replayed, of another payload, or in flight. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
public class KnownBenchmark {

    private static final PayloadHash HASH = PayloadHash.ofJson(Business.payload(1));
    private static final PayloadHash OTHER = PayloadHash.ofJson(Business.payload(2));
    private static final RunOptions FAIL_FAST =
            RunOptions.standard().withInFlight(InFlightPolicy.failFast());

    private final CountDownLatch end = new CountDownLatch(1);
    private final String id = Business.id();
    private final String running = Business.id();
    private Ground ground;
    private Variant textbook;
    private CommandRunner commands;
    private Thread winner;

    @Setup
    public void open() throws Exception {
        ground = Ground.openShared();
        var pool = ground.pool(4, Isolation.READ_COMMITTED);
        textbook = new Textbook(pool);
        commands = Replay.commands(pool);
        run(Command.of(Business.SCOPE, id, HASH));
        ground.execute("VACUUM ANALYZE onlyonce.command_dedup");
        var started = new CountDownLatch(1);
        winner = new Thread(() -> stayInFlight(started), "winner");
        winner.start();
        if (!started.await(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the winner never started");
        }
    }

    private void stayInFlight(CountDownLatch started) {
        try {
            commands.run(
                    Command.of(Business.SCOPE, running, HASH),
                    String.class,
                    work -> {
                        started.countDown();
                        end.await();
                        return "done";
                    });
        } catch (Exception e) { // its deadline has passed, or it was interrupted: nothing to do
            started.countDown();
        }
    }

    @TearDown
    public void close() throws Exception {
        end.countDown();
        winner.join();
        ground.close();
    }

    @Benchmark
    public void textbookReplay() throws SQLException {
        textbook.run(id, 1);
    }

    @Benchmark
    public Outcome<Business.Receipt> replay() throws SQLException {
        return run(Command.of(Business.SCOPE, id, HASH));
    }

    @Benchmark
    public Outcome<Business.Receipt> replayWithHint() throws SQLException {
        return run(Command.of(Business.SCOPE, id, HASH).likelyRetry());
    }

    @Benchmark
    public Object mismatch() throws SQLException {
        try {
            return run(Command.of(Business.SCOPE, id, OTHER));
        } catch (PayloadMismatchException e) {
            return e;
        }
    }

    @Benchmark
    public Object inFlight() throws SQLException {
        try {
            return run(Command.of(Business.SCOPE, running, HASH));
        } catch (CommandInFlightException e) {
            return e;
        }
    }

    private Outcome<Business.Receipt> run(Command command) throws SQLException {
        return commands.run(
                command,
                Business.Receipt.class,
                FAIL_FAST,
                work -> new Business.Receipt(command.id(), 1, 10));
    }
}
