package io.onlyonce.tx;

import io.onlyonce.sql.AfterCommit;
import io.onlyonce.sql.Deadline;
import io.onlyonce.sql.Retries;
import io.onlyonce.sql.Transaction;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.util.Objects;

import javax.sql.DataSource;

/**
 * Runs work in a transaction that commits when the work returns and rolls back on any {@link
 * Throwable}.
 *
 * <p>It never reports a success that did not happen: an SQL error that the work swallowed ends as
 * {@link SwallowedSqlErrorException}, a COMMIT whose answer was lost as {@link
 * CommitOutcomeUnknownException}. Serialization failures and deadlocks run the whole work again, on
 * a fresh connection, within the options' attempts and deadline. The failure that is thrown is the
 * one that came first; what went wrong while cleaning up is suppressed in it.
 *
 * <p>Thread-safe. One call blocks its thread and holds one connection, none while it waits to try
 * again.
 */
public final class TransactionTemplate {

    private final DataSource dataSource;
    private final TransactionOptions defaults;
    private final AfterCommit afterCommit;

    /** With {@link TransactionOptions#readCommitted()}. */
    public TransactionTemplate(DataSource dataSource) {
        this(dataSource, TransactionOptions.readCommitted());
    }

    /** With these options for every call that brings none of its own. */
    public TransactionTemplate(DataSource dataSource, TransactionOptions defaults) {
        this(dataSource, defaults, () -> {});
    }

    private TransactionTemplate(
            DataSource dataSource, TransactionOptions defaults, AfterCommit afterCommit) {
        this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
        this.defaults = Objects.requireNonNull(defaults, "defaults");
        this.afterCommit = afterCommit;
    }

    /** Made by {@code OnlyOnce}: its relays look for events after each commit. */
    @SuppressWarnings("exports") // only the library itself can name an AfterCommit
    public static TransactionTemplate of(
            DataSource dataSource, TransactionOptions defaults, AfterCommit afterCommit) {
        return new TransactionTemplate(dataSource, defaults, afterCommit);
    }

    /** Runs the work with the default options. */
    public <T extends @Nullable Object, X extends Exception> T execute(TransactionWork<T, X> work)
            throws X, SQLException {
        return execute(defaults, work);
    }

    /** Runs the work with these options. Its exceptions pass through as they are. */
    public <T extends @Nullable Object, X extends Exception> T execute(
            TransactionOptions options, TransactionWork<T, X> work) throws X, SQLException {
        Objects.requireNonNull(work, "work");
        var deadline = Deadline.after(options.deadline());
        var retries = new Retries(options.retry(), deadline);
        while (true) {
            try {
                return Transaction.within(
                        Transaction.begin(dataSource, options, deadline),
                        transaction -> {
                            T value = work.run(transaction.guarded());
                            transaction.commit();
                            afterCommit.run();
                            return value;
                        });
            } catch (Throwable failure) {
                if (!retries.again(failure)) {
                    throw failure;
                }
            }
        }
    }
}
