package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Messages of a batch take rows in the order of the batch, others in an order of their own. */
class BatchDeadlockTest {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    /** Alone, a message holds few rows; together again, they would meet the same neighbours. */
    @Test
    void after_a_deadlock_the_messages_are_tried_one_by_one_at_once() throws Exception {
        try (var db = TestDatabase.postgres();
                Connection other = db.connect()) {
            Schema.apply(db.dataSource());
            db.execute("CREATE TABLE part (id text PRIMARY KEY, n int NOT NULL)");
            db.execute("INSERT INTO part VALUES ('a', 0), ('b', 0)");
            Inbox inbox = OnlyOnce.on(db.pool(1)).withoutExpiry().build().inbox("parts");
            List<String> transactions = Collections.synchronizedList(new ArrayList<>());
            other.setAutoCommit(false);
            execute(other, "SET deadlock_timeout = '1min'"); // so that the batch is the one to fail
            count(other, "b");

            var batch =
                    CompletableFuture.supplyAsync(
                            () ->
                                    inbox.processAll(
                                            Stream.of("a", "b").map(this::message).toList(),
                                            incoming -> {
                                                transactions.add(transaction(incoming));
                                                count(
                                                        incoming.connection(),
                                                        incoming.message()
                                                                .id()
                                                                .substring(Markers.MARK.length()));
                                            }));
            Await.until(DEADLINE, () -> isWaiting(db), "the batch waits for b");
            count(other, "a");
            other.commit();

            assertThat(batch.get(30, TimeUnit.SECONDS).answers())
                    .containsOnly(new InboxAnswer.Processed());
            assertThat(transactions).as("a and b, then a, then b").hasSize(4);
            assertThat(transactions.get(1)).isEqualTo(transactions.get(0));
            assertThat(transactions.get(3)).isNotEqualTo(transactions.get(2));
            assertThat(db.count("SELECT sum(n) FROM part")).isEqualTo(4);
        }
    }

    private InboxMessage message(String id) {
        return InboxMessage.of("acme", "parts", Markers.MARK + id, new byte[] {1});
    }

    private static boolean isWaiting(TestDatabase db) throws SQLException {
        return db.count("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0;
    }

    private static String transaction(Incoming incoming) throws SQLException {
        try (var statement = incoming.connection().createStatement();
                var row = statement.executeQuery("SELECT pg_current_xact_id()::text")) {
            row.next();
            return row.getString(1);
        }
    }

    private static void count(Connection connection, String part) throws SQLException {
        execute(connection, "UPDATE part SET n = n + 1 WHERE id = '" + part + "'");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
