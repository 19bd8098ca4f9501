package io.onlyonce.sql;

import org.jspecify.annotations.Nullable;

import java.sql.SQLException;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Predicate;

/** Names of the SQLStates that decide something here, and the questions asked of them. */
public final class SqlState {

    public static final String SERIALIZATION_FAILURE = "40001";
    public static final String DEADLOCK_DETECTED = "40P01";
    public static final String ACTIVE_TRANSACTION = "25001";
    public static final String IN_FAILED_TRANSACTION = "25P02";
    public static final String CONNECTION_DOES_NOT_EXIST = "08003";
    public static final String LOCK_NOT_AVAILABLE = "55P03";
    public static final String UNIQUE_VIOLATION = "23505";
    public static final String QUERY_CANCELED = "57014";

    /** Raised by a finish in another transaction than its claim was made in. */
    public static final String NOT_THIS_TRANSACTION = "OO001";

    /** Raised by a finish whose claim is gone, undone to a savepoint or settled by somebody. */
    public static final String CLAIM_LOST = "OO002";

    /** Raised by an append whose event key already stands for another event. */
    public static final String EVENT_KEY_REUSED = "OO003";

    /** What the fence in our COMMIT trip raises; no other statement of anybody is likely to. */
    static final String FENCE = "2201G";

    private static final String STATEMENT_COMPLETION_UNKNOWN = "40003";
    private static final String IDLE_IN_TRANSACTION_TIMEOUT = "25P03";
    private static final String TRANSACTION_TIMEOUT = "25P04";
    private static final String OPERATOR_INTERVENTION = "57P0";

    /**
     * Classes that say nothing certain about a COMMIT: drivers use some for failures of their own;
     * the server raises 53, 58 and XX also as PANIC, when the commit record is already written and
     * recovery will find it.
     */
    private static final Set<String> UNCERTAIN_CLASSES =
            Set.of("08", "53", "58", "60", "90", "99", "HY", "IM", "S1", "XX");

    /** Undefined table, function and schema; the same of H2. */
    private static final Set<String> MISSING =
            Set.of("42P01", "42883", "3F000", "42S02", "42S03", "90079");

    /** Undefined savepoint; the same of H2, whose state looks like a failure of a driver's own. */
    private static final Set<String> SAVEPOINT_GONE = Set.of("3B001", "90063");

    private SqlState() {}

    /**
     * True if running the whole transaction again may well succeed: serialization failure or
     * deadlock.
     */
    public static boolean isRetryable(Throwable failure) {
        return anyMatch(
                failure,
                e ->
                        SERIALIZATION_FAILURE.equals(e.getSQLState())
                                || DEADLOCK_DETECTED.equals(e.getSQLState()));
    }

    /** True if a table, function or schema of ours is not there. */
    public static boolean isMissingTable(Throwable failure) {
        return anyMatch(failure, e -> e.getSQLState() != null && MISSING.contains(e.getSQLState()));
    }

    /**
     * True if the savepoint before the work is not there to be undone to. A transaction ends with
     * all its savepoints, so the work has ended it.
     */
    public static boolean isSavepointGone(Throwable failure) {
        return anyMatch(
                failure, e -> e.getSQLState() != null && SAVEPOINT_GONE.contains(e.getSQLState()));
    }

    /**
     * True if no part of the failure is a database error of the kind that another attempt may not
     * meet: only data exceptions (22), constraint violations (23) and errors raised by the user's
     * own procedures (P0) say something about the input.
     */
    public static boolean isDeterministic(Throwable failure) {
        return !anyMatch(failure, e -> !isAboutTheInput(e.getSQLState()));
    }

    static boolean isAboutTheInput(@Nullable String state) {
        return state != null
                && (state.startsWith("22") || state.startsWith("23") || state.startsWith("P0"));
    }

    /**
     * The same error without the server's detail, which quotes keys in clear; for errors of our own
     * statements.
     */
    public static SQLException withoutDetail(SQLException failure) {
        String message = failure.getMessage();
        boolean quotesValues = failure.getClass().getName().startsWith("org.h2.");
        String kept =
                message == null || quotesValues
                        ? ""
                        : ": " + message.lines().findFirst().orElse("");
        var stripped =
                new SQLException(
                        "A statement of OnlyOnce failed" + kept,
                        failure.getSQLState(),
                        failure.getErrorCode());
        stripped.setStackTrace(failure.getStackTrace());
        return stripped;
    }

    /** True if the failure, or anything that caused it, carries this SQLState. */
    public static boolean is(String state, Throwable failure) {
        return anyMatch(failure, e -> state.equals(e.getSQLState()));
    }

    /**
     * True if the server itself said no while a COMMIT was under way, so that the transaction is
     * certainly rolled back. Everything else (lost connections, terminated backends, driver errors,
     * null states) leaves it unknown.
     */
    public static boolean isDefinite(Throwable failure) {
        if (!(failure instanceof SQLException e)) {
            return false;
        }
        String state = e.getSQLState();
        return state != null
                && state.length() == 5
                && !UNCERTAIN_CLASSES.contains(state.substring(0, 2))
                && !state.equals(STATEMENT_COMPLETION_UNKNOWN)
                && !state.equals(IDLE_IN_TRANSACTION_TIMEOUT)
                && !state.equals(TRANSACTION_TIMEOUT)
                && !state.startsWith(OPERATOR_INTERVENTION);
    }

    /**
     * Asks every SQLException in the chains of causes and of next exceptions; safe against cycles.
     */
    static boolean anyMatch(@Nullable Throwable failure, Predicate<SQLException> question) {
        return anyMatch(failure, question, Collections.newSetFromMap(new IdentityHashMap<>()));
    }

    private static boolean anyMatch(
            @Nullable Throwable failure, Predicate<SQLException> question, Set<Throwable> seen) {
        if (failure == null || !seen.add(failure)) {
            return false;
        }
        if (failure instanceof SQLException e
                && (question.test(e) || anyMatch(e.getNextException(), question, seen))) {
            return true;
        }
        return anyMatch(failure.getCause(), question, seen);
    }
}
