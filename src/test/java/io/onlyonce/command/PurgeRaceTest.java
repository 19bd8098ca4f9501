package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Expired and forgotten ids while a purge has their rows in hand. */
class PurgeRaceTest extends DatabaseContract {

    private OnlyOnce once;

    PurgeRaceTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        once = Bank.once(db.pool(4));
    }

    private String forgotten(Isolation isolation) throws SQLException {
        String id = Bank.id("forgotten");
        run(id, isolation, Bank.command(id));
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - interval '9 days',"
                        + " expires_at = now() - interval '2 s', forget_at = now() - interval '1 s'"
                        + " WHERE command_id = '"
                        + id
                        + "'");
        return id;
    }

    private Outcome<String> run(String id, Isolation isolation, Command command)
            throws SQLException {
        return once.commands()
                .run(
                        command,
                        String.class,
                        RunOptions.standard()
                                .withTransaction(
                                        TransactionOptions.readCommitted()
                                                .withIsolation(isolation)),
                        work -> {
                            Bank.execute(
                                    work.connection(), "INSERT INTO audit VALUES (?, 'x')", id);
                            return "x";
                        });
    }

    private Connection purging(String id) throws SQLException {
        Connection purge = db.connect();
        purge.setAutoCommit(false);
        Bank.execute(purge, "DELETE FROM onlyonce.command_dedup WHERE command_id = ?", id);
        return purge;
    }

    @ParameterizedTest
    @EnumSource
    void a_forgotten_id_runs_anew_behind_the_purge_of_its_row(Isolation isolation)
            throws Exception {
        for (boolean commits : new boolean[] {true, false}) {
            String id = forgotten(isolation);
            try (Connection purge = purging(id)) {
                var running =
                        CompletableFuture.supplyAsync(
                                () -> {
                                    try {
                                        return run(id, isolation, Bank.command(id, "[1]"));
                                    } catch (SQLException e) {
                                        throw new IllegalStateException(e);
                                    }
                                });
                Await.until(
                        Duration.ofSeconds(20),
                        () ->
                                running.isDone()
                                        || db.count(
                                                        "SELECT count(*) FROM pg_locks WHERE NOT"
                                                                + " granted AND locktype ="
                                                                + " 'transactionid'")
                                                > 0,
                        "the command waits for the purge");
                if (commits) {
                    purge.commit();
                } else {
                    purge.rollback();
                }

                assertThat(running.get(30, TimeUnit.SECONDS).replayed()).isFalse();
            }
            assertThat(Bank.effects(db, id)).isEqualTo(2);
            assertThat(Bank.rows(db, id)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_command_that_has_not_expired_is_replayed_whatever_a_purge_does(Isolation isolation)
            throws Exception {
        String id = Bank.id("kept");
        run(id, isolation, Bank.command(id));
        try (Connection purge = purging(id)) {
            if (isolation == Isolation.READ_COMMITTED) {
                assertThat(run(id, isolation, Bank.command(id)).replayed()).isTrue();
            } else { // asks for the row, waits at most the claim's lock timeout each time
                assertThatThrownBy(
                                () ->
                                        once.commands()
                                                .run(
                                                        Bank.command(id),
                                                        String.class,
                                                        RunOptions.standard()
                                                                .withInFlight(
                                                                        InFlightPolicy.failFast())
                                                                .withTransaction(
                                                                        TransactionOptions
                                                                                .readCommitted()
                                                                                .withIsolation(
                                                                                        isolation)),
                                                        work -> "y"))
                        .isInstanceOf(CommandInFlightException.class);
            }
            purge.rollback();
        }
        assertThat(run(id, isolation, Bank.command(id)).replayed()).isTrue();
        assertThat(Bank.effects(db, id)).isEqualTo(1);
    }
}
