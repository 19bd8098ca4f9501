package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

final class AheadTest {

    private final Ahead<String> ahead = new Ahead<>(Duration.ofMinutes(1));

    @Test
    void what_was_read_is_taken_once() throws Exception {
        ahead.read(() -> "page");

        assertThat(ahead.take()).contains("page");
        assertThat(ahead.take()).isEmpty();
    }

    @Test
    void a_page_that_is_still_being_read_is_waited_for() throws Exception {
        var asked = new CountDownLatch(1);
        ahead.read(
                () -> {
                    asked.await();
                    return "late";
                });
        asked.countDown();

        assertThat(ahead.take()).contains("late");
    }

    @Test
    void a_page_that_cannot_be_read_is_as_if_nobody_had_asked() throws Exception {
        ahead.read(
                () -> {
                    throw new SQLException("gone");
                });

        assertThat(ahead.take()).isEmpty();
    }

    @Test
    void an_old_page_is_dropped() throws Exception {
        var old = new Ahead<String>(Duration.ZERO);
        old.read(() -> "old");

        assertThat(old.take()).isEmpty();
    }

    @Test
    void what_is_forgotten_is_not_offered() throws Exception {
        ahead.read(() -> "page");
        ahead.forget();

        assertThat(ahead.take()).isEmpty();
    }
}
