package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.time.Duration;

class TransactionOptionsTest {

    @Test
    void every_option_is_kept_by_every_other() {
        var policy = RetryPolicy.none();
        var options =
                TransactionOptions.serializable()
                        .poolAutoCommitOff()
                        .withDeadline(Duration.ofSeconds(1))
                        .withStatementTimeout(Duration.ofSeconds(2))
                        .withLockTimeout(Duration.ofSeconds(3))
                        .withCommitTimeout(Duration.ofSeconds(4))
                        .withRetry(policy)
                        .withIsolation(Isolation.REPEATABLE_READ)
                        .withDeadline(Duration.ofSeconds(5));

        assertThat(options.isolation()).isEqualTo(Isolation.REPEATABLE_READ);
        assertThat(options.deadline()).contains(Duration.ofSeconds(5));
        assertThat(options.statementTimeout()).contains(Duration.ofSeconds(2));
        assertThat(options.lockTimeout()).contains(Duration.ofSeconds(3));
        assertThat(options.commitTimeout()).isEqualTo(Duration.ofSeconds(4));
        assertThat(options.retry()).isSameAs(policy);
        assertThat(options.isPoolAutoCommitOff()).isTrue();
    }

    @Test
    void defaults_are_those_of_the_documentation() {
        var options = TransactionOptions.readCommitted();

        assertThat(options.isolation()).isEqualTo(Isolation.READ_COMMITTED);
        assertThat(TransactionOptions.repeatableRead().isolation())
                .isEqualTo(Isolation.REPEATABLE_READ);
        assertThat(TransactionOptions.serializable().isolation()).isEqualTo(Isolation.SERIALIZABLE);
        assertThat(options.deadline()).isEmpty();
        assertThat(options.commitTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(options.isPoolAutoCommitOff()).isFalse();
        assertThat(options.retry())
                .isEqualTo(new RetryPolicy(5, Duration.ofMillis(5), Duration.ofMillis(250)));
    }

    @Test
    void times_below_a_millisecond_are_refused() {
        var options = TransactionOptions.readCommitted();

        assertThat(options.withDeadline(Duration.ofMillis(1)).deadline()).isPresent();
        assertThatThrownBy(() -> options.withDeadline(Duration.ofNanos(999_999)))
                .hasMessageContaining("deadline");
        assertThatThrownBy(() -> options.withStatementTimeout(Duration.ZERO))
                .hasMessageContaining("statementTimeout");
        assertThatThrownBy(() -> options.withLockTimeout(Duration.ofSeconds(-1)))
                .hasMessageContaining("lockTimeout");
        assertThatThrownBy(() -> options.withCommitTimeout(Duration.ZERO))
                .hasMessageContaining("commitTimeout");
        assertThatThrownBy(() -> options.withRetry(null)).hasMessageContaining("retry");
        assertThatThrownBy(() -> options.withIsolation(null)).hasMessageContaining("isolation");
    }

    @Test
    void backoff_doubles_up_to_its_ceiling() {
        var policy = new RetryPolicy(9, Duration.ofMillis(5), Duration.ofMillis(250));

        assertThat(policy.backoff(1)).isEqualTo(Duration.ofMillis(5));
        assertThat(policy.backoff(2)).isEqualTo(Duration.ofMillis(10));
        assertThat(policy.backoff(6)).isEqualTo(Duration.ofMillis(160));
        assertThat(policy.backoff(7)).isEqualTo(Duration.ofMillis(250));
        assertThat(policy.backoff(1_000_000)).isEqualTo(Duration.ofMillis(250));
    }

    @Test
    void impossible_policies_are_refused() {
        Duration ms = Duration.ofMillis(1);
        Duration day = Duration.ofDays(1);

        assertThat(new RetryPolicy(1, Duration.ZERO, day).maxBackoff()).isEqualTo(day);
        assertThat(new RetryPolicy(1, ms, ms).withAttempts(3).attempts()).isEqualTo(3);
        assertThatThrownBy(() -> new RetryPolicy(0, ms, ms)).hasMessageContaining("attempts");
        assertThatThrownBy(() -> new RetryPolicy(1, ms.negated(), ms))
                .hasMessageContaining("firstBackoff");
        assertThatThrownBy(() -> new RetryPolicy(1, ms.multipliedBy(2), ms))
                .hasMessageContaining("maxBackoff");
        assertThatThrownBy(() -> new RetryPolicy(1, ms, day.plusNanos(1)))
                .hasMessageContaining("one day");
        assertThatThrownBy(() -> new RetryPolicy(1, null, ms)).hasMessageContaining("firstBackoff");
        assertThatThrownBy(() -> new RetryPolicy(1, ms, null)).hasMessageContaining("maxBackoff");
    }
}
