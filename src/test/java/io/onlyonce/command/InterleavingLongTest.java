package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.List;

/** Every interleaving of every two callers of one command, and many of three. */
@Tag("long")
class InterleavingLongTest extends InterleavingGround {

    @ParameterizedTest
    @MethodSource("levels")
    void two_callers_have_one_effect_in_every_interleaving(Isolation one, Isolation other)
            throws Exception {
        long before = tally.schedules();
        List<ScheduleScript> ones = ScheduleScript.all(one);
        List<ScheduleScript> others = ScheduleScript.all(other);
        for (int i = 0; i < ones.size(); i++) {
            // At one level a pair and its mirror image have the same schedules.
            for (int j = one == other ? i : 0; j < others.size(); j++) {
                explorer.all(ones.get(i), others.get(j));
            }
        }
        System.out.printf("%s with %s: %,d%n", one, other, tally.schedules() - before);

        assertThat(tally.of("left COMPLETED")).isPositive();
    }

    @Test
    void three_callers_have_one_effect() throws Exception {
        sample(20_000);
    }
}
