package io.onlyonce.command;

import io.onlyonce.outbox.EventBuffer;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * How one command runs. Immutable; every {@code with} makes a copy.
 *
 * <p>One deadline covers everything a call does: waiting, retries, and finding out about a COMMIT
 * whose answer was lost.
 */
public final class RunOptions {

    /** Says of an exception of the work whether it is a deterministic "no", and which. */
    @FunctionalInterface
    public interface Classifier extends Function<Throwable, Optional<Rejection>> {}

    /** Writes what is to be kept of a rejected command, for example an audit row. */
    @FunctionalInterface
    public interface OnRejected {
        /** Runs after the work's writes were undone; commits with the rejection or not at all. */
        void rejected(Connection connection, EventBuffer outbox, Rejection rejection)
                throws SQLException;
    }

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final TransactionOptions transaction;
    private final InFlightPolicy inFlight;
    private final boolean rejections;
    private final Classifier classifier;
    private final @Nullable OnRejected onRejected;

    private RunOptions(
            TransactionOptions transaction,
            InFlightPolicy inFlight,
            boolean rejections,
            Classifier classifier,
            @Nullable OnRejected onRejected) {
        this.transaction = transaction;
        this.inFlight = inFlight;
        this.rejections = rejections;
        this.classifier = classifier;
        this.onRejected = onRejected;
    }

    /**
     * READ COMMITTED, 30 seconds for everything, five attempts, and up to two seconds of waiting
     * for a command in flight.
     */
    public static RunOptions standard() {
        return new RunOptions(
                TransactionOptions.readCommitted().withDeadline(DEADLINE),
                InFlightPolicy.waitUpTo(Duration.ofSeconds(2)),
                true,
                failure -> Optional.empty(),
                null);
    }

    /** Isolation level, retries, timeouts; the deadline stays at 30 seconds if they state none. */
    public RunOptions withTransaction(TransactionOptions transaction) {
        TransactionOptions bounded =
                transaction.deadline().isPresent()
                        ? transaction
                        : transaction.withDeadline(DEADLINE);
        return new RunOptions(bounded, inFlight, rejections, classifier, onRejected);
    }

    /** What to do when the command is in flight. */
    public RunOptions withInFlight(InFlightPolicy inFlight) {
        return new RunOptions(
                transaction,
                Objects.requireNonNull(inFlight, "inFlight"),
                rejections,
                classifier,
                onRejected);
    }

    /**
     * Exceptions of the work, besides {@link CommandRejectedException}, that are a deterministic
     * "no". It is not asked to judge database errors that another attempt may not meet: a work that
     * met one is never stored as rejected.
     */
    public RunOptions withClassifier(Classifier classifier) {
        return new RunOptions(
                transaction,
                inFlight,
                rejections,
                Objects.requireNonNull(classifier, "classifier"),
                onRejected);
    }

    /** What is written when a command is rejected. */
    public RunOptions withOnRejected(OnRejected onRejected) {
        return new RunOptions(
                transaction,
                inFlight,
                rejections,
                classifier,
                Objects.requireNonNull(onRejected, "onRejected"));
    }

    /**
     * Stores no rejections, and saves the savepoint that they need: every exception of the work
     * rolls everything back and leaves the id free.
     */
    public RunOptions withoutRejections() {
        return new RunOptions(transaction, inFlight, false, classifier, onRejected);
    }

    /** The options of each of its transactions. */
    public TransactionOptions transaction() {
        return transaction;
    }

    /** What happens when the command is in flight. */
    public InFlightPolicy inFlight() {
        return inFlight;
    }

    /** What says which exceptions of the work are a "no". */
    public Classifier classifier() {
        return classifier;
    }

    /** False after {@link #withoutRejections()}. */
    public boolean storesRejections() {
        return rejections;
    }

    Optional<OnRejected> onRejected() {
        return Optional.ofNullable(onRejected);
    }

    Optional<Rejection> rejectionFor(Throwable failure) {
        if (!rejections) {
            return Optional.empty();
        }
        return failure instanceof CommandRejectedException no
                ? Optional.of(new Rejection(no.code(), no.detail()))
                : classifier.apply(failure);
    }
}
