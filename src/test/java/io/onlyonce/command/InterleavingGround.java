package io.onlyonce.command;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.provider.Arguments;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;

/** A database to explore schedules in, and a table of what they came to at the end. */
abstract class InterleavingGround extends DatabaseContract {

    private static final int CALLERS = 3;

    protected final ScheduleTally tally = new ScheduleTally();
    protected ScheduleExplorer explorer;

    InterleavingGround() {
        super(TestDatabase::postgres);
    }

    /** Every pair of levels; who comes first is for the schedules to say. */
    static Stream<Arguments> levels() {
        return Arrays.stream(Isolation.values())
                .flatMap(
                        one ->
                                Arrays.stream(Isolation.values())
                                        .filter(other -> one.compareTo(other) <= 0)
                                        .map(other -> Arguments.of(one, other)));
    }

    @BeforeAll
    void prepare() throws Exception {
        ScheduleExplorer.prepare(db);
    }

    @BeforeEach
    void open() throws Exception {
        explorer = new ScheduleExplorer(db, CALLERS, tally);
    }

    @AfterEach
    void close() throws Exception {
        explorer.close();
    }

    @AfterAll
    void report() {
        System.out.println(getClass().getSimpleName() + ": " + tally);
    }

    /**
     * Random schedules of three callers. Each has a seed of its own, printed if it fails; {@code
     * -Donlyonce.seed=…} begins with that one.
     */
    protected void sample(int schedules) throws Exception {
        long first = Long.getLong("onlyonce.seed", System.currentTimeMillis());
        System.out.printf("three callers, onlyonce.seed=%d and the next %d%n", first, schedules);
        for (long seed = first; seed < first + schedules; seed++) {
            var random = new Random(seed);
            var scripts = new ScheduleScript[CALLERS];
            Arrays.setAll(scripts, i -> ScheduleScript.any(random));
            try {
                explorer.one(ScheduleChoices.random(random), scripts);
            } catch (AssertionError e) {
                throw new AssertionError("onlyonce.seed=" + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
