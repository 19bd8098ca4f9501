package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.outbox.OutboxEvent;
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

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

/** A transaction that appends 1, 10 or 100 events: in one call, and by a JDBC batch. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
public class AppendBenchmark {

    @Param({"1", "10", "100"})
    public int events;

    private Ground ground;
    private DataSource pool;
    private OnlyOnce once;

    @Setup
    public void open() throws SQLException {
        ground = Ground.openShared();
        pool = ground.pool(1, Isolation.READ_COMMITTED);
        once = OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).build();
    }

    @TearDown
    public void close() throws Exception {
        ground.close();
    }

    @Benchmark
    public void onlyOnce() throws SQLException {
        List<OutboxEvent> list =
                Stream.generate(Business::id)
                        .limit(events)
                        .map(id -> OutboxEvent.of(id, "Account", "1", "Deposited", payload()))
                        .toList();
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            once.outbox().append(connection, Business.SCOPE.tenant(), list);
            connection.commit();
        }
    }

    @Benchmark
    public void textbookBatch() throws SQLException {
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (var append = connection.prepareStatement(Textbook.APPEND)) {
                for (int i = 0; i < events; i++) {
                    Textbook.bindAppend(append, Business.id(), 1, payload());
                    append.addBatch();
                }
                append.executeBatch();
            }
            connection.commit();
        }
    }

    private static byte[] payload() {
        return Business.payload(1);
    }
}
