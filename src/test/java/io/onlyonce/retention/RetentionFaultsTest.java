package io.onlyonce.retention;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.retention.PurgeReport.End;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Retention among other runners, traffic, kills and lost connections. */
class RetentionFaultsTest extends DatabaseContract {

    private static final RetentionOptions ARCHIVING = RetentionOptions.standard().archivingAll();

    private OnlyOnce once;

    RetentionFaultsTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void openAttic() throws Exception {
        Attic.open(db);
        once = Attic.once(db.pool(16));
    }

    @BeforeEach
    void empty() throws Exception {
        db.execute("TRUNCATE onlyonce.command_dedup, onlyonce.command_archive, audit");
    }

    @Test
    void several_runners_at_once_take_every_row_once_and_never_collide() throws Exception {
        Attic.fill(db, "pay", 20_000);
        List<PurgeReport> reports = new ArrayList<>();
        while (Attic.rows(db, "pay") > 0) {
            reports.addAll(Race.of(3, () -> once.retention(ARCHIVING).runOnce(Attic.LONG)));
        }

        assertThat(reports.stream().mapToLong(PurgeReport::commands).sum()).isEqualTo(20_000);
        assertThat(reports).extracting(PurgeReport::end).contains(End.ELSEWHERE);
        assertThat(Attic.archived(db, "pay")).isEqualTo(20_000);
        assertThat(db.count("SELECT count(DISTINCT command_id) FROM onlyonce.command_archive"))
                .isEqualTo(20_000);
    }

    @Test
    void a_killed_run_loses_nothing_and_the_next_one_takes_the_rest() throws Exception {
        Attic.fill(db, "pay", 5_000);
        try (ChildJvm child =
                ChildJvm.start(PurgingChild.class, db.url(), db.user(), db.password())) {
            child.awaitCheckpoint("chunk");
            child.proceed();
            child.awaitCheckpoint("chunk");
            child.kill();
        }
        long left = Attic.rows(db, "pay");
        assertThat(left).isBetween(1L, 4_999L);
        assertThat(Attic.archived(db, "pay")).isEqualTo(5_000 - left);

        PurgeReport rest = once.retention(ARCHIVING).runOnce(Attic.LONG);

        assertThat(rest.commands()).isEqualTo(left);
        assertThat(Attic.archived(db, "pay")).isEqualTo(5_000);
    }

    @Test
    void a_chunk_whose_connection_is_cut_is_taken_and_archived_as_a_whole_or_not_at_all()
            throws Exception {
        Attic.fill(db, "pay", 20_000);
        var failures = new AtomicInteger();
        var cutter =
                CompletableFuture.runAsync(
                        () -> {
                            while (failures.get() < 5) {
                                cut();
                            }
                        });
        OnlyOnce unpooled = Attic.once(db.dataSource());
        while (Attic.rows(db, "pay") > 0) {
            try {
                unpooled.retention(ARCHIVING).runOnce(Attic.LONG);
            } catch (SQLException | RuntimeException e) {
                failures.incrementAndGet();
            }
            assertThat(Attic.rows(db, "pay") + Attic.archived(db, "pay")).isEqualTo(20_000);
        }
        assertThat(failures).hasPositiveValue();
        failures.set(5);
        cutter.get(30, TimeUnit.SECONDS);
        assertThat(Attic.archived(db, "pay")).isEqualTo(20_000);
    }

    private void cut() {
        try {
            db.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
                            + " current_database() AND query LIKE '%RETURNING *%' AND pid <>"
                            + " pg_backend_pid()");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void no_chunk_holds_its_rows_for_longer_than_the_bound() throws Exception {
        Attic.fill(db, "pay", 60);
        db.execute(
                """
                CREATE TABLE held (tx bigint NOT NULL, at timestamptz NOT NULL);
                CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM pg_sleep(0.01);
                    INSERT INTO held VALUES (txid_current(), clock_timestamp());
                    RETURN OLD;
                END $$;
                CREATE TRIGGER slow BEFORE DELETE ON onlyonce.command_dedup FOR EACH ROW EXECUTE FUNCTION slow()\
                """);
        try {
            PurgeReport report = once.retention().runOnce(Attic.LONG);

            assertThat(report.commands()).isEqualTo(60);
            assertThat(report.end()).isEqualTo(End.DONE);
            assertThat(
                            db.count(
                                    """
                                    SELECT ceil(max(took)) FROM (
                                        SELECT extract(epoch FROM max(at) - min(at)) * 1000 AS took
                                        FROM held GROUP BY tx) t\
                                    """))
                    .isLessThanOrEqualTo(100);
        } finally {
            db.execute("DROP FUNCTION slow CASCADE; DROP TABLE held");
        }
    }

    @Test
    void slow_commits_do_not_make_chunks_small() throws Exception {
        Attic.fill(db, "pay", 6_000);
        db.execute(
                """
                CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF coalesce(current_setting('attic.slept', true), '') = '' THEN
                        PERFORM set_config('attic.slept', 'yes', true), pg_sleep(0.03);
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER slow_commit AFTER DELETE ON onlyonce.command_dedup
                    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow_commit()\
                """);
        var chunks = new AtomicInteger();
        try {
            PurgeReport report =
                    once.retention().runOnce(Attic.LONG, progress -> chunks.incrementAndGet());

            assertThat(report.commands()).isEqualTo(6_000);
            assertThat(chunks.get()).isLessThan(100);
        } finally {
            db.execute("DROP FUNCTION slow_commit CASCADE");
        }
    }

    /** The result is replayed, or the id is new; a purge in between makes no third answer. */
    @ParameterizedTest
    @EnumSource
    void a_retry_that_races_with_the_purge_of_its_row_replays_or_runs(Isolation isolation)
            throws Exception {
        var options =
                RunOptions.standard()
                        .withTransaction(
                                TransactionOptions.readCommitted().withIsolation(isolation));
        Duration ttl = Duration.ofMillis(3);
        var runs = new AtomicInteger();
        var purged = new AtomicInteger();
        long end = System.nanoTime() + Duration.ofSeconds(2).toNanos();
        List<Callable<Void>> callers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String id = "raced-" + isolation + "-" + i % 3;
            Command command = Attic.command("pay", id).withTtl(ttl, Duration.ZERO);
            callers.add(
                    () -> {
                        while (System.nanoTime() - end < 0) {
                            try {
                                var outcome =
                                        once.commands()
                                                .run(
                                                        command,
                                                        String.class,
                                                        options,
                                                        work -> audit(work.connection(), id));
                                runs.addAndGet(outcome.replayed() ? 0 : 1);
                            } catch (CommandInFlightException e) {
                                // two callers of one id, and the other is at it
                            }
                        }
                        return null;
                    });
        }
        callers.add(
                () -> {
                    Retention retention = once.retention();
                    while (System.nanoTime() - end < 0) {
                        purged.addAndGet((int) retention.runOnce(Attic.LONG).commands());
                    }
                    return null;
                });

        Race.of(callers);

        assertThat(purged).hasPositiveValue();
        assertThat(db.count("SELECT count(*) FROM audit")).isEqualTo(runs.get());
    }

    private static String audit(Connection connection, String id) throws SQLException {
        try (var statement = connection.prepareStatement("INSERT INTO audit VALUES (?)")) {
            statement.setString(1, id);
            statement.executeUpdate();
            return id;
        }
    }

    /** Whatever the clock here says, nothing goes before its time there. */
    @Test
    void nothing_reads_the_clock_of_the_jvm() throws IOException {
        var clock =
                Pattern.compile("currentTimeMillis|\\.now\\(\\)|Clock|new Date|LocalDate|Calendar");
        try (Stream<Path> files = Files.list(Path.of("src/main/java/io/onlyonce/retention"))) {
            for (Path file : files.toList()) {
                String code = Files.readString(file).replace("pg_catalog.now()", "");
                assertThat(clock.matcher(code).find()).as(file.toString()).isFalse();
            }
        }
    }
}
