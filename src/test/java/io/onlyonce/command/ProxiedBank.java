package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.FaultProxy;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Commands that reach their database through a network that can be broken. */
abstract class ProxiedBank extends DatabaseContract {

    /** In every trip of ours that claims or finishes a command. */
    static final String EVERY_TRIP = "command_dedup";

    /** How often the work was entered. */
    final AtomicInteger runs = new AtomicInteger();

    FaultProxy proxy;
    private HikariDataSource pool;
    CommandRunner commands;

    ProxiedBank() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        db.execute("INSERT INTO account VALUES ('a', 0)");
        proxy = FaultProxy.to(db.target());
        pool = db.poolThrough(proxy, 3, config -> config.setConnectionTimeout(1_000));
        commands = Bank.once(pool).commands();
    }

    @AfterAll
    void closeProxy() throws Exception {
        pool.close(); // first, or it would try to connect for a while
        proxy.close();
    }

    @BeforeEach
    void mendNetwork() {
        runs.set(0);
        proxy.pass();
        proxy.release();
    }

    static RunOptions at(Isolation isolation) {
        return with(isolation, options -> options);
    }

    static RunOptions with(Isolation isolation, UnaryOperator<TransactionOptions> change) {
        return RunOptions.standard()
                .withTransaction(
                        change.apply(TransactionOptions.readCommitted().withIsolation(isolation)));
    }

    /** Gives up on COMMIT soon, and on everything a second after the start. */
    static TransactionOptions brief(TransactionOptions options) {
        return options.withCommitTimeout(Duration.ofMillis(150))
                .withDeadline(Duration.ofSeconds(1));
    }

    Outcome<String> deposit(String id, RunOptions options) throws SQLException {
        return commands.run(Bank.command(id), String.class, options, work -> depositNow(work, id));
    }

    /** Two runs would show as two effects and two events. */
    String depositNow(Work work, String id) throws SQLException {
        String receipt = "receipt " + runs.incrementAndGet();
        Bank.deposit(work.connection(), "a", id);
        work.outbox().append(CrashingChild.event(id, receipt));
        return receipt;
    }

    /** The call on a thread of its own. */
    static <T> CompletableFuture<T> async(Callable<T> call) {
        var result = new CompletableFuture<T>();
        var thread =
                new Thread(
                        () -> {
                            try {
                                result.complete(call.call());
                            } catch (Throwable e) {
                                result.completeExceptionally(e);
                            }
                        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    void assertOneEffect(String id) throws SQLException {
        assertLeft(id, "1 effects, 1 events, 1 rows");
    }

    void assertNothing(String id) throws SQLException {
        assertLeft(id, "0 effects, 0 events, 0 rows");
    }

    private void assertLeft(String id, String expected) throws SQLException {
        String left =
                """
                SELECT (SELECT count(*) FROM audit WHERE command = '%1$s') || ' effects, '
                    || (SELECT count(*) FROM onlyonce.outbox_event WHERE command_id = '%1$s') || ' events, '
                    || (SELECT count(*) FROM onlyonce.command_dedup WHERE command_id = '%1$s') || ' rows'\
                """;
        assertThat(db.value(left.formatted(id), String.class)).contains(expected);
    }
}
