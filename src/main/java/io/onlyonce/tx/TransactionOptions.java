package io.onlyonce.tx;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How one transaction runs: isolation level, timeouts and retries. Immutable; every {@code with}
 * makes a copy.
 */
public final class TransactionOptions {

    private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(10);

    private final Isolation isolation;
    private final RetryPolicy retry;
    private final @Nullable Duration deadline;
    private final @Nullable Duration statementTimeout;
    private final @Nullable Duration lockTimeout;
    private final Duration commitTimeout;
    private final boolean poolAutoCommitOff;

    private TransactionOptions(
            Isolation isolation,
            RetryPolicy retry,
            @Nullable Duration deadline,
            @Nullable Duration statementTimeout,
            @Nullable Duration lockTimeout,
            Duration commitTimeout,
            boolean poolAutoCommitOff) {
        this.isolation = isolation;
        this.retry = retry;
        this.deadline = deadline;
        this.statementTimeout = statementTimeout;
        this.lockTimeout = lockTimeout;
        this.commitTimeout = commitTimeout;
        this.poolAutoCommitOff = poolAutoCommitOff;
    }

    /** READ COMMITTED, standard retries, no timeouts of its own; COMMIT may hang for 10 seconds. */
    public static TransactionOptions readCommitted() {
        return new TransactionOptions(
                Isolation.READ_COMMITTED,
                RetryPolicy.standard(),
                null,
                null,
                null,
                COMMIT_TIMEOUT,
                false);
    }

    /** The same at REPEATABLE READ. */
    public static TransactionOptions repeatableRead() {
        return readCommitted().withIsolation(Isolation.REPEATABLE_READ);
    }

    /** The same at SERIALIZABLE. */
    public static TransactionOptions serializable() {
        return readCommitted().withIsolation(Isolation.SERIALIZABLE);
    }

    /** At this level, whatever the pool's or the server's default is. */
    public TransactionOptions withIsolation(Isolation isolation) {
        return new TransactionOptions(
                Objects.requireNonNull(isolation, "isolation"),
                retry,
                deadline,
                statementTimeout,
                lockTimeout,
                commitTimeout,
                poolAutoCommitOff);
    }

    /** With other retries; {@link RetryPolicy#none()} switches them off. */
    public TransactionOptions withRetry(RetryPolicy retry) {
        return new TransactionOptions(
                isolation,
                Objects.requireNonNull(retry, "retry"),
                deadline,
                statementTimeout,
                lockTimeout,
                commitTimeout,
                poolAutoCommitOff);
    }

    /**
     * Bounds the whole call, retries included: no attempt starts and no COMMIT is sent after it. A
     * statement that is running then is cancelled by the server after what was left, in whole
     * seconds, when its attempt began.
     */
    public TransactionOptions withDeadline(Duration deadline) {
        return new TransactionOptions(
                isolation,
                retry,
                positive(deadline, "deadline"),
                statementTimeout,
                lockTimeout,
                commitTimeout,
                poolAutoCommitOff);
    }

    /** Bounds each statement (SQLState 57014). */
    public TransactionOptions withStatementTimeout(Duration statementTimeout) {
        return new TransactionOptions(
                isolation,
                retry,
                deadline,
                positive(statementTimeout, "statementTimeout"),
                lockTimeout,
                commitTimeout,
                poolAutoCommitOff);
    }

    /** Bounds each wait for a lock (SQLState 55P03). */
    public TransactionOptions withLockTimeout(Duration lockTimeout) {
        return new TransactionOptions(
                isolation,
                retry,
                deadline,
                statementTimeout,
                positive(lockTimeout, "lockTimeout"),
                commitTimeout,
                poolAutoCommitOff);
    }

    /** How long the answer to COMMIT may take before the outcome is called unknown. */
    public TransactionOptions withCommitTimeout(Duration commitTimeout) {
        return new TransactionOptions(
                isolation,
                retry,
                deadline,
                statementTimeout,
                lockTimeout,
                positive(commitTimeout, "commitTimeout"),
                poolAutoCommitOff);
    }

    /**
     * Declares that the pool hands out its connections with autocommit off, so that this alone is
     * no sign of somebody else's transaction. A connection that has already written something is
     * still refused.
     */
    public TransactionOptions poolAutoCommitOff() {
        return new TransactionOptions(
                isolation, retry, deadline, statementTimeout, lockTimeout, commitTimeout, true);
    }

    /** The level that is stated. */
    public Isolation isolation() {
        return isolation;
    }

    /** When the work runs again. */
    public RetryPolicy retry() {
        return retry;
    }

    /** The bound of the whole call, if any. */
    public Optional<Duration> deadline() {
        return Optional.ofNullable(deadline);
    }

    /** The bound of each statement, if any. */
    public Optional<Duration> statementTimeout() {
        return Optional.ofNullable(statementTimeout);
    }

    /** The bound of each wait for a lock, if any. */
    public Optional<Duration> lockTimeout() {
        return Optional.ofNullable(lockTimeout);
    }

    /** The bound of COMMIT. */
    public Duration commitTimeout() {
        return commitTimeout;
    }

    /** Whether {@link #poolAutoCommitOff()} was declared. */
    public boolean isPoolAutoCommitOff() {
        return poolAutoCommitOff;
    }

    private static Duration positive(Duration duration, String name) {
        if (Objects.requireNonNull(duration, name).compareTo(Duration.ofMillis(1)) < 0) {
            throw new IllegalArgumentException(
                    name + " must be at least one millisecond; leave it out for none.");
        }
        return duration;
    }
}
