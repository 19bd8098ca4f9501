package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.command.Stampede.Told;
import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Callers in several pools and processes, at mixed isolation levels, on the same ids. */
class OneEffectTest {

    private static final int THREADS = 64;
    private static final int CHILDREN = 3;
    private static final int THREADS_PER_CHILD = 8;
    private static final int ALL = THREADS + CHILDREN * THREADS_PER_CHILD;
    private static final Duration DEADLINE = Duration.ofMinutes(30);

    private TestDatabase db;

    @BeforeEach
    void openBank() throws Exception {
        db = TestDatabase.postgres();
        Bank.open(db);
        for (int i = 0; i < Stampede.ACCOUNTS; i++) {
            db.execute("INSERT INTO account VALUES ('a" + i + "', 0)");
        }
    }

    @AfterEach
    void closeBank() throws Exception {
        db.close();
    }

    @Test
    @Tag("repeated")
    void five_thousand_racing_calls_leave_one_effect_one_result_and_one_event_for_each_id()
            throws Exception {
        assertOneEffectEach(5_000);
    }

    @Test
    @Tag("long")
    void a_hundred_thousand_racing_calls_leave_one_effect_one_result_and_one_event_for_each_id()
            throws Exception {
        assertOneEffectEach(100_000);
    }

    private void assertOneEffectEach(int atLeast) throws Exception {
        long seed = ThreadLocalRandom.current().nextInt(1_000_000);
        int steps = (atLeast + ALL - 1) / ALL;

        Told told = stampede(steps, seed);

        System.out.println(told.callers() + " calls of " + told.results().size() + " ids");
        assertThat(told.callers()).as("calls, seed " + seed).isEqualTo(steps * ALL);
        told.results().forEach(OneEffectTest::assertOneAnswer);
        assertOnceIn("audit", "command", told);
        assertOnceIn("onlyonce.outbox_event", "command_id", told);
        assertOnceIn("onlyonce.command_dedup", "command_id", told);
        assertThat(db.count("SELECT SUM(balance) FROM account"))
                .isEqualTo(10L * told.results().size());
        assertThat(
                        db.count(
                                """
                                SELECT count(*) FROM onlyonce.command_dedup c
                                JOIN onlyonce.outbox_event e USING (command_id)
                                WHERE e.event_key = 'deposited:' || trim('"' FROM convert_from(c.result, 'UTF8'))
                                """))
                .as("results that belong to their events")
                .isEqualTo(told.results().size());
    }

    private static void assertOneAnswer(String id, Map<String, Told.Count> answers) {
        assertThat(answers).as("results of " + id).hasSize(1);
        assertThat(answers.values()).extracting(Told.Count::fresh).containsExactly(1);
    }

    /** Every id that was called is there, and none is there twice. */
    private void assertOnceIn(String table, String column, Told told) throws Exception {
        String once = "SELECT %s FROM %s GROUP BY 1 HAVING count(*) = 1".formatted(column, table);
        assertThat(db.count("SELECT count(*) FROM (" + once + ") AS single"))
                .as("ids that are once in " + table)
                .isEqualTo(told.results().size());
        assertThat(db.count("SELECT count(*) FROM " + table))
                .as("rows in " + table)
                .isEqualTo(told.results().size());
    }

    private Told stampede(int steps, long seed) throws Exception {
        List<ChildJvm> children = new ArrayList<>();
        try {
            for (int i = 1; i <= CHILDREN; i++) {
                children.add(
                        ChildJvm.start(
                                Child.class,
                                db.url(),
                                db.user(),
                                db.password(),
                                "child" + i,
                                "" + steps,
                                "" + (seed + i)));
            }
            var here =
                    new Stampede("here", List.of(db.pool(8), db.pool(8), db.pool(8), db.pool(8)));
            for (ChildJvm child : children) {
                child.awaitCheckpoint("ready");
            }
            for (ChildJvm child : children) {
                child.proceed();
            }
            Told told = here.run(THREADS, steps, seed);
            for (ChildJvm child : children) {
                child.awaitLine("done", DEADLINE);
                child.output().stream()
                        .filter(line -> line.startsWith("told "))
                        .map(line -> line.split(" "))
                        .forEach(w -> told.add(w[1], w[2], number(w[3]), number(w[4])));
            }
            return told;
        } finally {
            for (ChildJvm child : children) {
                child.close();
            }
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    /** Another process on the same database, with two pools of its own. */
    static final class Child {
        public static void main(String[] args) throws Exception {
            try (var first = pool(args);
                    var second = pool(args)) {
                var stampede = new Stampede(args[3], List.of(first, second));
                Checkpoint.reached("ready");
                Told told =
                        stampede.run(
                                THREADS_PER_CHILD,
                                Integer.parseInt(args[4]),
                                Long.parseLong(args[5]));
                told.results()
                        .forEach(
                                (id, results) ->
                                        results.forEach(
                                                (result, count) ->
                                                        System.out.printf(
                                                                "told %s %s %d %d%n",
                                                                id,
                                                                result,
                                                                count.callers(),
                                                                count.fresh())));
                System.out.println("done");
            }
        }

        private static HikariDataSource pool(String[] args) {
            var config = new HikariConfig();
            config.setDataSource(DataSources.unpooled(args[0], args[1], args[2]));
            config.setMaximumPoolSize(3);
            return new HikariDataSource(config);
        }
    }
}
