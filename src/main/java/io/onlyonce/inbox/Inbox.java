package io.onlyonce.inbox;

import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.observe.ObservedMessage.Decision;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.KeyedHash;
import io.onlyonce.sql.Names;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Turns;
import io.onlyonce.tx.TransactionOptions;
import io.onlyonce.tx.TransactionRequiredException;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * The messages of one consumer. However often a message is delivered, its effects happen once; the
 * same id with another payload is refused.
 *
 * <p>{@link #process} and {@link #processAll} own their transactions: claim, work, events and the
 * mark commit together or not at all, so a crash anywhere leaves nothing to clean up, and an answer
 * of {@code Processed} means durable. Acknowledge to the broker after that, never before.
 *
 * <p>Thread-safe. Not to be called from inside a work.
 */
public final class Inbox {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final CommandSetup setup;
    private final InboxStore store;
    private final String consumer;
    private final TransactionOptions transaction;
    private final Turns turns = new Turns();
    private final InboxWatch watch;
    private final KeyedHash hashes;

    private Inbox(
            CommandSetup setup, InboxStore store, String consumer, TransactionOptions transaction) {
        this.setup = setup;
        this.store = store;
        this.consumer = consumer;
        hashes = new KeyedHash(setup.cipher());
        watch = new InboxWatch(setup.observer(), consumer);
        this.transaction =
                transaction.deadline().isPresent()
                        ? transaction
                        : transaction.withDeadline(DEADLINE);
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a CommandSetup
    public static Inbox of(CommandSetup setup, String consumer, TransactionOptions transaction) {
        return new Inbox(
                setup, InboxStore.of(setup), Names.require(consumer, "consumer", 255), transaction);
    }

    /** The same consumer with other transactions; 30 seconds for each if they state no deadline. */
    public Inbox withTransaction(TransactionOptions transaction) {
        return new Inbox(setup, store, consumer, Objects.requireNonNull(transaction));
    }

    /**
     * Processes the message, once, in a transaction of its own. Serialization failures and
     * deadlocks run the work again; a COMMIT whose answer was lost is looked into.
     *
     * @return {@code Processed}, {@code Duplicate}, {@code InFlight} or {@code Deferred}
     * @throws MessageIdentityViolationException if its id was used with another payload
     * @throws MessageUnfinishedException if a claim of the low road was committed without its mark
     * @throws io.onlyonce.tx.CommitOutcomeUnknownException if the deadline passed before it could
     *     be found out whether COMMIT had succeeded; do not acknowledge, the next delivery will
     *     tell
     * @throws X what the work threw; everything is rolled back
     */
    public <X extends Exception> InboxAnswer process(InboxMessage message, MessageWork<X> work)
            throws X, SQLException {
        Objects.requireNonNull(work, "work");
        if (!watch.isWatching()) {
            return processed(message, work);
        }
        var decision = Decision.FAILED;
        try {
            InboxAnswer answer = processed(message, work);
            decision = InboxWatch.decisionOf(answer);
            return answer;
        } catch (MessageIdentityViolationException e) {
            decision = Decision.VIOLATION;
            throw e;
        } finally {
            watch.tell(message, decision);
        }
    }

    private <X extends Exception> InboxAnswer processed(InboxMessage message, MessageWork<X> work)
            throws X, SQLException {
        InboxAnswer answer;
        try {
            answer = new InboxRun<>(this, List.of(row(message)), work).run().get(0);
        } catch (MessageDeferredException e) {
            return new InboxAnswer.Deferred(e.expected());
        }
        if (answer instanceof InboxAnswer.IdentityViolation) {
            throw new MessageIdentityViolationException(message);
        }
        if (answer instanceof InboxAnswer.Failed failed
                && failed.cause() instanceof MessageUnfinishedException e) {
            throw e;
        }
        return answer;
    }

    /**
     * Processes what a broker delivered in one poll, in its order, a hundred messages to a
     * transaction. If one of a hundred fails, they are tried one by one, so the work of the others
     * may run twice, and commits once. A message that waits for a version which comes later in the
     * batch is tried again at the end.
     *
     * <p>Copies of a message within the batch are duplicates. Failures are answers, not exceptions;
     * if the database cannot be reached, or the work throws {@code InterruptedException},
     * everything that is left fails with the same cause at once, and the thread stays interrupted.
     */
    public <X extends Exception> InboxBatch processAll(
            List<InboxMessage> messages, MessageWork<X> work) {
        Objects.requireNonNull(work, "work");
        InboxBatch batch = new InboxBatchRun<>(this, List.copyOf(messages), work).run();
        if (watch.isWatching()) {
            for (int i = 0; i < messages.size(); i++) {
                watch.tell(messages.get(i), InboxWatch.decisionOf(batch.answers().get(i)));
            }
        }
        return batch;
    }

    /**
     * The low road: decides who processes the message, in one round trip, inside a transaction that
     * the caller owns and ends. {@link #markProcessed} must follow in the same transaction.
     *
     * @throws TransactionRequiredException if the connection is in autocommit mode
     * @throws MessageIdentityViolationException if its id was used with another payload; roll back
     * @throws MessageUnfinishedException if a claim was committed without its mark
     */
    public InboxClaim tryStart(Connection connection, InboxMessage message) throws SQLException {
        InboxRow row = row(message);
        if (connection.getAutoCommit()) {
            throw new TransactionRequiredException();
        }
        InboxSeen seen;
        try {
            seen = store.claim(connection, row);
        } catch (SQLException e) {
            throw explained(e);
        }
        if (seen.state() != InboxSeen.State.STARTED) {
            watch.tell(connection, message, InboxWatch.decisionOf(seen));
        }
        return switch (seen.state()) {
            case STARTED -> new InboxClaim.Started(row);
            case DUPLICATE -> new InboxClaim.Duplicate();
            case IN_FLIGHT -> new InboxClaim.InFlight(InboxRun.RETRY_AFTER);
            case VIOLATION -> throw new MessageIdentityViolationException(message);
            case UNFINISHED -> throw new MessageUnfinishedException(message);
        };
    }

    /**
     * Marks the message as processed; it becomes durable with the caller's COMMIT.
     *
     * @throws MessageClaimLostException if this transaction does not hold the claim any more; it
     *     can only be rolled back
     */
    public void markProcessed(Connection connection, InboxClaim.Started started)
            throws SQLException {
        try {
            if (!store.markProcessed(connection, started.row())) {
                throw new MessageClaimLostException(started.message());
            }
            watch.tell(connection, started.message(), Decision.PROCESSED);
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    /**
     * Settles a claim that was committed without its mark: its effects are there, so it counts as
     * processed. In the caller's transaction.
     *
     * @return false if there is no such claim, or somebody is at it
     */
    public boolean settle(Connection connection, InboxMessage message) throws SQLException {
        return settle(connection, message, true);
    }

    /**
     * Settles a claim that was committed without its mark: its effects are not there, so the next
     * delivery is processed. In the caller's transaction.
     *
     * @return false if there is no such claim, or somebody is at it
     */
    public boolean release(Connection connection, InboxMessage message) throws SQLException {
        return settle(connection, message, false);
    }

    private boolean settle(Connection connection, InboxMessage message, boolean processed)
            throws SQLException {
        InboxRow row = row(message);
        if (connection.getAutoCommit()) {
            throw new TransactionRequiredException();
        }
        try {
            return store.tryLock(connection, row.lockKey())
                    && store.settle(connection, row, processed);
        } catch (SQLException e) {
            throw explained(e);
        }
    }

    InboxRow row(InboxMessage message) {
        return InboxRow.of(setup, hashes, consumer, message);
    }

    InboxStore store() {
        return store;
    }

    CommandSetup setup() {
        return setup;
    }

    TransactionOptions transaction() {
        return transaction;
    }

    Turns turns() {
        return turns;
    }

    /** Without ids; and missing tables are said to be missing. */
    SQLException explained(SQLException e) {
        if (SqlState.isMissingTable(e)) {
            throw SchemaOutdatedException.missingTables(setup.schema().value());
        }
        return SqlState.withoutDetail(e);
    }
}
