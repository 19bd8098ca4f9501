package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

class AwaitTest {

    @Test
    void a_wait_ends_as_soon_as_the_condition_holds() throws Exception {
        var asked = new AtomicInteger();

        Await.until(Duration.ofSeconds(10), () -> asked.incrementAndGet() == 3, "asked thrice");

        assertThat(asked).hasValue(3);
    }

    @Test
    void a_wait_in_vain_says_so_in_a_sentence() {
        assertThatThrownBy(() -> Await.until(Duration.ofMillis(50), () -> false, "pigs fly"))
                .isInstanceOf(AssertionError.class)
                .hasMessage("waited 0.05s in vain until pigs fly");
    }

    @Test
    void what_the_condition_throws_ends_the_wait() {
        var broken = new IllegalStateException();

        assertThatThrownBy(
                        () ->
                                Await.until(
                                        Duration.ofSeconds(10),
                                        () -> {
                                            throw broken;
                                        },
                                        "never"))
                .isSameAs(broken);
    }
}
