package io.onlyonce.command;

import io.onlyonce.payload.ResultCodec;
import io.onlyonce.payload.ResultType;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/** The database's answer to the question who runs the work of a command. */
public sealed interface Claim {

    /**
     * The caller runs the work, in this transaction, and then completes or rejects the command in
     * it. Rolled back, also to an earlier savepoint, the claim is gone.
     */
    final class Started implements Claim {

        private final NewRow row;
        private final Object mark;

        Started(NewRow row, Object mark) {
            this.row = row;
            this.mark = mark;
        }

        /** What was claimed. */
        public Command command() {
            return row.command();
        }

        NewRow row() {
            return row;
        }

        Object mark() {
            return mark;
        }

        @Override
        public String toString() {
            return "Started[" + command() + "]";
        }
    }

    /** The work ran before; here is what it returned. */
    final class Replayed implements Claim {

        private final Command command;
        private final Settings settings;
        private final StoredRow row;

        Replayed(Command command, Settings settings, StoredRow row) {
            this.command = command;
            this.settings = settings;
            this.row = row;
        }

        /** The result as an object of this class. */
        public <T> @Nullable T value(Class<T> type) {
            return value(ResultType.of(type));
        }

        /**
         * The result as an object of this type.
         *
         * @throws ResultNotStoredException if there is none, because an operator settled the
         *     command without one or retention dropped it
         * @throws io.onlyonce.payload.StoredResultUnreadableException if it does not fit the type,
         *     or cannot be decrypted
         */
        public <T> @Nullable T value(ResultType<T> type) {
            ResultCodec.Encoded result = settings.seal().result(command, row);
            if (result == null) {
                throw new ResultNotStoredException(command);
            }
            return settings.codec().decode(result, type);
        }

        @Override
        public String toString() {
            return "Replayed[" + command + "]";
        }
    }

    /** The work said no before. */
    record Rejected(Rejection rejection) implements Claim {}

    /**
     * Another transaction runs the work, or has just run it.
     *
     * @param retryAfter when to ask again
     */
    record InFlight(Duration retryAfter) implements Claim {}

    /** The id was used for another payload; nothing of what is stored is told. */
    record PayloadMismatch() implements Claim {}

    /** The result is no longer replayed, and the id not yet free. */
    record Expired() implements Claim {}

    /**
     * A transaction committed its claim without completing it, so nobody can tell what became of
     * the work until {@link CommandDedup#resolve} settles it.
     */
    record OutcomeUnknown() implements Claim {}
}
