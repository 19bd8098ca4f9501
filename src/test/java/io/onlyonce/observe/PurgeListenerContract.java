package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandIds;
import io.onlyonce.command.CommandScope;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.retention.PurgeReport;
import io.onlyonce.retention.PurgeReport.End;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/** What listeners are told of a purge, and what they cannot do to it. */
abstract class PurgeListenerContract extends DatabaseContract {

    private static final CommandScope SCOPE = new CommandScope("acme", "teller", "deposit");
    private static final Duration LONG = Duration.ofMinutes(1);

    private final Told told = new Told();
    private HikariDataSource pool;
    private OnlyOnce once;

    PurgeListenerContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void open() throws Exception {
        Schema.apply(db.dataSource());
        pool = db.pool(1);
        once = OnlyOnce.on(pool).withTtl(Duration.ofDays(1)).withListener(told).build();
    }

    @BeforeEach
    void empty() throws Exception {
        db.execute("DELETE FROM onlyonce.command_dedup");
        told.first(() -> {});
    }

    /** So many commands that may be forgotten, and nothing told yet. */
    private void forgotten(int commands) throws SQLException {
        for (int i = 0; i < commands; i++) {
            var command =
                    Command.of(SCOPE, Markers.MARK + CommandIds.next(), PayloadHash.ofJson("{}"));
            unheard().commands().run(command, String.class, work -> "receipt");
        }
        back("command_dedup", "started_at", "finished_at", "expires_at", "forget_at");
        told.allAndForget();
    }

    private OnlyOnce unheard() throws SQLException {
        return OnlyOnce.on(db.dataSource()).withTtl(Duration.ofDays(1)).build();
    }

    private void back(String table, String... columns) throws SQLException {
        String moved = "%1$s = %1$s - INTERVAL '40' DAY";
        db.execute(
                "UPDATE onlyonce.%s SET %s"
                        .formatted(
                                table,
                                String.join(
                                        ", ",
                                        Arrays.stream(columns).map(moved::formatted).toList())));
    }

    @Test
    void it_is_told_how_many_rows_of_which_table_have_gone() throws Exception {
        once.inbox("billing")
                .process(InboxMessage.of("acme", "orders", Markers.MARK, new byte[] {1}), in -> {});
        back("inbox_message", "received_at", "processed_at");
        forgotten(3);

        once.retention().runOnce(LONG);

        assertThat(told.allAndForget())
                .containsExactly("purged command_dedup 3", "purged inbox_message 1");
        once.retention().runOnce(LONG);
        assertThat(told.all).as("told of nothing").isEmpty();
    }

    @Test
    void one_that_throws_does_not_end_the_run() throws Exception {
        forgotten(2);
        told.first(
                () -> {
                    throw new LinkageError(Markers.MARK);
                });

        PurgeReport report = once.retention().runOnce(LONG);

        assertThat(report.commands()).isEqualTo(2);
        assertThat(report.end()).isEqualTo(End.DONE);
        assertThat(told.all).containsExactly("purged command_dedup 2");
    }

    @Test
    void while_one_blocks_nothing_is_held_and_another_runner_goes_on() throws Exception {
        forgotten(2);
        var isTold = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        told.first(
                () -> {
                    isTold.countDown();
                    try {
                        assertThat(goOn.await(1, TimeUnit.MINUTES)).isTrue();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                });
        var blocked = new FutureTask<>(() -> once.retention().runOnce(LONG));
        new Thread(blocked, "blocked").start();
        assertThat(isTold.await(1, TimeUnit.MINUTES)).isTrue();

        assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.command_dedup")).isZero();
        forgotten(1);
        PurgeReport other = unheard().retention().runOnce(LONG);
        assertThat(other.commands()).isEqualTo(1);
        assertThat(other.end()).isEqualTo(End.DONE);

        goOn.countDown();
        PurgeReport report = blocked.get(1, TimeUnit.MINUTES);
        assertThat(report.commands()).isEqualTo(2);
        assertThat(report.end()).isEqualTo(End.DONE);
    }
}
