package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.CrashingChild.Busy;
import io.onlyonce.command.CrashingChild.Point;
import io.onlyonce.command.CrashingChild.Standing;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a retry meets after the process that ran the command was killed by SIGKILL. */
class CrashTest extends DatabaseContract {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private static final String LOCKS =
            """
            SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
            WHERE l.locktype = 'advisory' AND d.datname = current_database()\
            """;

    private CommandRunner commands;

    CrashTest() {
        super(TestDatabase::postgres);
    }

    static Stream<Arguments> pointsAtLevels() {
        return everywhere(Arguments::of);
    }

    private static <T> Stream<T> everywhere(BiFunction<Point, Isolation, T> f) {
        return Stream.of(Point.values())
                .flatMap(
                        point -> Stream.of(Isolation.values()).map(level -> f.apply(point, level)));
    }

    /** One process that stands at every point at every level, each for another id, dies once. */
    @BeforeAll
    void killAChildAtEveryPoint() throws Exception {
        Bank.open(db);
        commands = Bank.once(db.pool(4)).commands();
        List<String> ids = everywhere(CrashingChild::id).toList();
        for (String id : ids) {
            db.execute("INSERT INTO account VALUES ('" + id + "', 0)");
        }
        try (var child = start(Standing.class, "")) {
            Await.until(
                    DEADLINE,
                    () -> ids.stream().allMatch(id -> says(child, "@checkpoint " + id)),
                    "the child stood at every point at every level");
            assertThat(db.count(LOCKS)).as("claims held").isEqualTo(4 * Isolation.values().length);
            assertThat(db.count("SELECT count(*) FROM audit"))
                    .as("works committed")
                    .isEqualTo(Isolation.values().length);
            child.kill();
        }
    }

    @ParameterizedTest
    @MethodSource("pointsAtLevels")
    void a_retry_runs_what_was_not_committed_and_replays_what_was(Point point, Isolation isolation)
            throws Exception {
        String id = CrashingChild.id(point, isolation);
        boolean durable = point == Point.AFTER_COMMIT;
        var runs = new AtomicInteger();

        Outcome<String> outcome = retry(id, id, isolation, runs);

        assertThat(outcome)
                .isEqualTo(new Outcome<>(durable ? "by the child" : "by the retry", durable));
        assertThat(runs).hasValue(durable ? 0 : 1);
        assertOneEffect(id);
        assertThat(db.count("SELECT balance FROM account WHERE id = '" + id + "'")).isEqualTo(10);
    }

    @RepeatedTest(3)
    @Tag("repeated")
    void a_child_killed_at_any_moment_has_told_only_what_a_retry_replays(RepetitionInfo round)
            throws Exception {
        String prefix = "busy-" + Markers.MARK + round.getCurrentRepetition() + "-";
        for (int thread = 0; thread < Busy.THREADS; thread++) {
            db.execute("INSERT INTO account VALUES ('" + prefix + thread + "', 0)");
        }
        ChildJvm child = start(Busy.class, prefix);
        try (child) {
            for (int answers = 0; answers < 20 * round.getCurrentRepetition(); answers++) {
                child.awaitLine("told ");
            }
            child.kill();
        }
        Map<String, String> told =
                lines(child, "told ").collect(Collectors.toMap(w -> w[1], w -> w[2]));
        List<String> asked = lines(child, "asked ").map(w -> w[1]).toList();

        for (String id : asked) {
            int number = Integer.parseInt(id.substring(prefix.length()));
            var runs = new AtomicInteger();
            Outcome<String> outcome =
                    retry(id, Busy.account(prefix, number), Busy.level(number), runs);
            if (told.containsKey(id)) {
                assertThat(outcome).isEqualTo(new Outcome<>(told.get(id), true));
            }
            assertThat(runs).as(id).hasValue(outcome.replayed() ? 0 : 1);
            assertOneEffect(id);
        }
        assertThat(told).hasSizeGreaterThanOrEqualTo(20 * round.getCurrentRepetition());
        assertThat(db.count("SELECT sum(balance) FROM account WHERE id LIKE '" + prefix + "%'"))
                .isEqualTo(10L * asked.size());
    }

    private Outcome<String> retry(
            String id, String account, Isolation isolation, AtomicInteger runs) throws Exception {
        return commands.run(
                Bank.command(id),
                String.class,
                CrashingChild.at(isolation),
                work -> {
                    runs.incrementAndGet();
                    Bank.deposit(work.connection(), account, id);
                    work.outbox().append(CrashingChild.event(id, "retry"));
                    return "by the retry";
                });
    }

    private void assertOneEffect(String id) throws Exception {
        assertThat(Bank.effects(db, id)).as("effects of " + id).isOne();
        assertThat(Bank.events(db, id)).as("events of " + id).isOne();
        assertThat(Bank.rows(db, id)).as("rows of " + id).isOne();
    }

    private ChildJvm start(Class<?> main, String prefix) throws Exception {
        return ChildJvm.start(main, db.url(), db.user(), db.password(), prefix);
    }

    private static boolean says(ChildJvm child, String line) {
        return child.output().contains(line);
    }

    /** Whole lines only: the kill may have torn the last one. */
    private static Stream<String[]> lines(ChildJvm child, String prefix) {
        Function<String, String[]> words = line -> line.split(" ");
        return child.output().stream()
                .filter(line -> line.startsWith(prefix) && line.endsWith(" ."))
                .map(words);
    }
}
