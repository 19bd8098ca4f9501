package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

class RaceTest {

    @Test
    void callers_run_at_the_same_time() throws Exception {
        var allInside = new CyclicBarrier(8);

        List<Integer> arrivals = Race.of(8, () -> allInside.await(10, TimeUnit.SECONDS));

        assertThat(arrivals).containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5, 6, 7);
    }

    @Test
    void results_come_in_the_order_of_the_callers() throws Exception {
        var secondIsDone = new CountDownLatch(1);
        Callable<String> first =
                () -> {
                    assertThat(secondIsDone.await(10, TimeUnit.SECONDS)).isTrue();
                    return "first";
                };
        Callable<String> second =
                () -> {
                    secondIsDone.countDown();
                    return "second";
                };

        assertThat(Race.of(List.of(first, second))).containsExactly("first", "second");
    }

    @Test
    void the_first_failure_carries_the_others() {
        List<Callable<Integer>> calls =
                IntStream.range(0, 3).mapToObj(RaceTest::failingUnlessZero).toList();

        assertThatThrownBy(() -> Race.of(calls))
                .isInstanceOf(IOException.class)
                .hasMessage("caller 1")
                .satisfies(e -> assertThat(e.getSuppressed()).hasSize(1))
                .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessage("caller 2"));
    }

    @Test
    void attempts_tell_who_returned_and_who_failed() {
        List<Callable<Integer>> calls =
                IntStream.range(0, 2).mapToObj(RaceTest::failingUnlessZero).toList();

        List<Attempt<Integer>> attempts = Race.attempts(calls);

        assertThat(attempts).extracting(Attempt::succeeded).containsExactly(true, false);
        assertThat(attempts.get(0).value()).contains(0);
        assertThat(attempts.get(1).failure().orElseThrow()).hasMessage("caller 1");
    }

    @Test
    void a_stuck_race_fails_with_the_stacks_of_the_stuck() {
        var never = new CountDownLatch(1);
        List<Callable<Void>> calls = List.of(() -> null, () -> standStill(never));

        assertThatThrownBy(() -> Race.of(Duration.ofMillis(300), calls))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("not over after 0.3s")
                .hasMessageContaining("race-caller-1")
                .hasMessageContaining("standStill")
                .hasMessageNotContaining("race-caller-0");
    }

    private static Callable<Integer> failingUnlessZero(int caller) {
        return () -> {
            if (caller > 0) {
                throw new IOException("caller " + caller);
            }
            return caller;
        };
    }

    private static Void standStill(CountDownLatch never) throws InterruptedException {
        never.await();
        return null;
    }
}
