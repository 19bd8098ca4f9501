package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.ScheduleScript.Before;
import io.onlyonce.command.ScheduleScript.End;
import io.onlyonce.command.ScheduleScript.Road;
import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every interleaving of two callers of one command, for callers that stand for the others; {@link
 * InterleavingLongTest} goes through all of them.
 */
class InterleavingTest extends InterleavingGround {

    private static ScheduleScript high(End end, Isolation level) {
        return new ScheduleScript(Road.HIGH, Before.NOTHING, end, level);
    }

    private static ScheduleScript low(Before before, End end, Isolation level) {
        return new ScheduleScript(Road.LOW, before, end, level);
    }

    @Test
    void callers_with_three_trips_have_thirty_interleavings() throws Exception {
        ScheduleScript commits = high(End.COMMIT, Isolation.READ_COMMITTED);

        // CLAIM WORK COMMIT of the one that asks first, and of the other CLAIM ROLLBACK after it
        // (1), or CLAIM ROLLBACK CLAIM ROLLBACK from its WORK on (1 of 4 + 3 trips is its own: 4),
        // or from its CLAIM on (2 of 5: 10). Each may be the first.
        assertThat(explorer.all(commits, commits)).isEqualTo(2 * (1 + 4 + 10));
    }

    @ParameterizedTest
    @MethodSource("levels")
    void two_callers_on_the_high_road_have_one_effect(Isolation one, Isolation other)
            throws Exception {
        explorer.all(high(End.COMMIT, one), high(End.COMMIT, other));
        explorer.all(high(End.ROLLBACK, one), high(End.REJECT, other));
    }

    @ParameterizedTest
    @EnumSource
    void two_callers_on_the_low_road_have_one_effect(Isolation level) throws Exception {
        explorer.all(
                low(Before.NOTHING, End.COMMIT, level), low(Before.SNAPSHOT, End.COMMIT, level));
    }

    @ParameterizedTest
    @MethodSource("levels")
    void the_roads_exclude_each_other(Isolation one, Isolation other) throws Exception {
        explorer.all(high(End.COMMIT, one), low(Before.SNAPSHOT, End.COMMIT, other));
    }

    @ParameterizedTest
    @EnumSource
    void a_rollback_or_a_killed_backend_leaves_the_command_to_the_other(Isolation level)
            throws Exception {
        explorer.all(high(End.KILL_AFTER_WORK, level), high(End.COMMIT, level));
        explorer.all(low(Before.NOTHING, End.ROLLBACK, level), high(End.COMMIT, level));
        explorer.all(low(Before.NOTHING, End.KILL_AFTER_FINISH, level), high(End.COMMIT, level));
    }

    @ParameterizedTest
    @EnumSource
    void a_claim_committed_without_its_end_is_run_by_nobody_else(Isolation level) throws Exception {
        explorer.all(low(Before.NOTHING, End.ABANDON, level), high(End.COMMIT, level));

        assertThat(tally.of("CLAIM → OUTCOME_UNKNOWN")).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void a_claim_that_was_undone_completes_nothing(Isolation level) throws Exception {
        ScheduleScript other = low(Before.NOTHING, End.COMMIT, level);
        explorer.all(low(Before.NOTHING, End.STALE_IN_TRANSACTION, level), other);
        explorer.all(low(Before.NOTHING, End.STALE_IN_THE_NEXT, level), other);

        assertThat(tally.of("STALE_FINISH → CLAIM_LOST")).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void a_caller_that_blocks_in_the_database_is_let_in_by_every_end(Isolation level)
            throws Exception {
        var blocking = new ScheduleScript(Road.HIGH_BLOCKING, Before.NOTHING, End.COMMIT, level);
        explorer.all(high(End.COMMIT, level), blocking);
        explorer.all(high(End.KILL_AFTER_WORK, level), blocking);
        explorer.all(low(Before.NOTHING, End.ROLLBACK, level), blocking);

        assertThat(tally.of("CLAIM waits")).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void a_row_that_both_callers_write_makes_only_that_write_wait(Isolation level)
            throws Exception {
        ScheduleScript writes = low(Before.WRITE, End.COMMIT, level);
        explorer.all(writes, writes);

        assertThat(tally.of("WRITE waits")).isPositive();
    }

    @Test
    void three_callers_have_one_effect() throws Exception {
        sample(50);
    }
}
