package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.inbox.Inbox;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.tx.Isolation;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

/** Messages with empty work, one by one and 100 at a time; times are per message. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
public class InboxBenchmark {

    private static final int BATCH = 100;

    private Ground ground;
    private DataSource pool;
    private Inbox inbox;

    @Setup
    public void open() throws SQLException {
        ground = Ground.openShared();
        pool = ground.pool(1, Isolation.READ_COMMITTED);
        inbox = OnlyOnce.on(pool).withoutExpiry().build().inbox("benchmark");
    }

    @TearDown
    public void close() throws Exception {
        ground.close();
    }

    /** INSERT ON CONFLICT DO NOTHING, COMMIT. */
    @Benchmark
    public void textbook() throws SQLException {
        try (var connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try (var insert =
                    connection.prepareStatement(
                            """
                            INSERT INTO onlyonce.inbox_message (received_at, processed_at, status, hash_version, message_id,
                                source, consumer, tenant, payload_hash)
                            VALUES (now(), now(), 1, 11, ?, 'deposits', 'textbook', 'acme', ?) ON CONFLICT DO NOTHING\
                            """)) {
                insert.setString(1, Business.id());
                insert.setBytes(2, new byte[32]);
                insert.executeUpdate();
            }
            connection.commit();
        }
    }

    @Benchmark
    public Object single() throws SQLException {
        return inbox.process(message(), incoming -> {});
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public Object batch() {
        List<InboxMessage> messages =
                Stream.generate(InboxBenchmark::message).limit(BATCH).toList();
        return inbox.processAll(messages, incoming -> {});
    }

    private static InboxMessage message() {
        return InboxMessage.of("acme", "deposits", Business.id(), Business.payload(1));
    }
}
