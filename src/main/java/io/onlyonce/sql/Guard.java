package io.onlyonce.sql;

import io.onlyonce.tx.DeadlineExceededException;
import io.onlyonce.tx.TransactionControlException;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Array;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The seat belt around the work's connection: refuses the calls that would end the transaction
 * behind our back, and remembers the last SQL error that passed through. SQL text can still say
 * COMMIT; the fence at the end notices that.
 */
final class Guard {

    /** What a connection hands out that leads back to it. */
    private static final Set<Class<?>> LEADS_BACK =
            Set.of(
                    Statement.class,
                    PreparedStatement.class,
                    CallableStatement.class,
                    ResultSet.class,
                    Array.class,
                    DatabaseMetaData.class);

    /** Statements that end a transaction, as far as a glance at the text can tell. */
    private static final Pattern ENDS =
            Pattern.compile(
                    "(^|;)\\s*(COMMIT|END|ABORT|PREPARE\\s+TRANSACTION"
                            + "|ROLLBACK(?!\\s+(WORK\\s+|TRANSACTION\\s+)?TO\\b))\\b",
                    Pattern.CASE_INSENSITIVE);

    private final Connection proxy;
    private final Deadline deadline;
    private final AtomicInteger underWay = new AtomicInteger();
    private volatile boolean ended;
    private volatile @Nullable SQLException lastError;
    private volatile @Nullable SQLException transientError;
    private volatile boolean saidItsEnd;
    private volatile @Nullable Long gap;
    private volatile @Nullable Queue<Consumer<Boolean>> afterwards;

    Guard(Connection connection, Deadline deadline) {
        this.deadline = deadline;
        proxy = (Connection) wrap(Connection.class, connection, null);
    }

    /** The connection to give to the work. */
    Connection connection() {
        return proxy;
    }

    /** The last SQL error that the work met, whether it swallowed it or not. */
    Optional<SQLException> lastError() {
        return Optional.ofNullable(lastError);
    }

    /** True if SQL text of the work may have ended the transaction. */
    boolean saidItsEnd() {
        return saidItsEnd;
    }

    /** The last SQL error of the work that says nothing about its input, swallowed or not. */
    Optional<SQLException> transientError() {
        return Optional.ofNullable(transientError);
    }

    /** A projection waits for this version of an aggregate, so the work must not count as done. */
    static void noteGap(Connection connection, long expected) {
        if (Proxy.isProxyClass(connection.getClass())
                && Proxy.getInvocationHandler(connection) instanceof Handler handler) {
            handler.guard().gap = expected;
        }
    }

    /** Remembers what is to be done after the transaction; false if it is not one of ours. */
    static boolean afterwards(Connection connection, Consumer<Boolean> ended) {
        if (Proxy.isProxyClass(connection.getClass())
                && Proxy.getInvocationHandler(connection) instanceof Handler handler) {
            handler.guard().remember(ended);
            return true;
        }
        return false;
    }

    private synchronized void remember(Consumer<Boolean> ended) {
        Queue<Consumer<Boolean>> known = afterwards;
        Queue<Consumer<Boolean>> all = known == null ? new ConcurrentLinkedQueue<>() : known;
        all.add(ended);
        afterwards = all;
    }

    /** Does what {@link #afterwards} remembered, now that the connection is back. */
    void tellEnd(boolean committed) {
        Queue<Consumer<Boolean>> remembered = afterwards;
        if (remembered != null) {
            remembered.forEach(each -> each.accept(committed));
        }
    }

    /** What {@link #noteGap} was last told. */
    OptionalLong gap() {
        Long noted = gap;
        return noted == null ? OptionalLong.empty() : OptionalLong.of(noted);
    }

    /**
     * From now on the work's connection, and all that came from it, refuses everything. False if a
     * call of another thread is still under way, so that the connection is not ours alone.
     */
    boolean end() {
        ended = true; // before the count is read, as calls count before they read it
        return underWay.get() == 0;
    }

    private Object wrap(Class<?> type, Object delegate, @Nullable Object parent) {
        return Proxy.newProxyInstance(
                Guard.class.getClassLoader(), new Class<?>[] {type}, new Handler(delegate, parent));
    }

    private final class Handler implements InvocationHandler {

        private final Object delegate;
        private final @Nullable Object parent;

        Handler(Object delegate, @Nullable Object parent) {
            this.delegate = delegate;
            this.parent = parent;
        }

        Guard guard() {
            return Guard.this;
        }

        @Override
        public @Nullable Object invoke(Object self, Method method, Object @Nullable [] args)
                throws Throwable {
            String name = method.getName();
            if (method.getDeclaringClass() == Object.class) {
                return identity(self, name, args);
            }
            underWay.incrementAndGet();
            try {
                return guarded(self, name, method, args);
            } finally {
                underWay.decrementAndGet();
            }
        }

        private @Nullable Object guarded(
                Object self, String name, Method method, Object @Nullable [] args)
                throws Throwable {
            refuseIfForbidden(name, args);
            if (name.equals("getConnection")) {
                return proxy;
            }
            if (name.equals("getStatement") && parent instanceof Statement) {
                return parent;
            }
            noticeItsEnd(args);
            Object result = call(method, args);
            Class<?> type = result instanceof ResultSet ? ResultSet.class : method.getReturnType();
            return result != null && LEADS_BACK.contains(type) ? wrap(type, result, self) : result;
        }

        /** The first argument of what executes or prepares SQL is its text. */
        private void noticeItsEnd(Object @Nullable [] args) {
            if (args != null
                    && args.length > 0
                    && args[0] instanceof String sql
                    && mayEnd(sql)
                    && ENDS.matcher(sql).find()) {
                saidItsEnd = true;
            }
        }

        /** A single statement that begins like most do is not worth a closer look. */
        private static boolean mayEnd(String sql) {
            int start = 0;
            while (start < sql.length() && Character.isWhitespace(sql.charAt(start))) {
                start++;
            }
            return sql.indexOf(';') >= 0
                    || (start < sql.length() && "CcEeAaPpRr".indexOf(sql.charAt(start)) >= 0);
        }

        private Object identity(Object self, String name, Object @Nullable [] args) {
            return switch (name) {
                case "equals" -> args != null && self == args[0];
                case "hashCode" -> System.identityHashCode(self);
                default -> delegate instanceof Array ? delegate.toString() : "guarded " + delegate;
            };
        }

        private void refuseIfForbidden(String name, Object @Nullable [] args) {
            if (ended) {
                if (name.equals("close") || name.equals("isClosed")) {
                    return;
                }
                throw new TransactionControlException(
                        name,
                        "the transaction of this connection has ended. Use it inside the work"
                                + " only");
            }
            if (name.startsWith("execute") && deadline.passed()) {
                throw new DeadlineExceededException("before a statement of the work");
            }
            if (delegate instanceof Connection && endsTransaction(name, args)) {
                throw new TransactionControlException(
                        name,
                        "the transaction belongs to OnlyOnce. Return from the work to commit,"
                                + " throw to roll back");
            }
        }

        private static boolean endsTransaction(String name, Object @Nullable [] args) {
            return switch (name) {
                case "commit", "close", "abort", "setTransactionIsolation" -> true;
                case "rollback" -> args == null; // to a savepoint it may
                case "setAutoCommit" -> args != null && Boolean.TRUE.equals(args[0]);
                default -> false;
            };
        }

        /** Drivers know only their own arrays. */
        private static Object @Nullable [] bare(Object @Nullable [] args) {
            if (args == null) {
                return null;
            }
            Object[] bare = args;
            for (int i = 0; i < args.length; i++) {
                if (args[i] instanceof Array
                        && Proxy.isProxyClass(args[i].getClass())
                        && Proxy.getInvocationHandler(args[i]) instanceof Handler handler) {
                    bare = bare == args ? args.clone() : bare;
                    bare[i] = handler.delegate;
                }
            }
            return bare;
        }

        private @Nullable Object call(Method method, Object @Nullable [] args) throws Throwable {
            if (ended
                    && delegate
                            instanceof Connection) { // the pool may have given it to somebody else
                return method.getName().equals("isClosed") ? true : null;
            }
            try {
                return method.invoke(delegate, bare(args));
            } catch (InvocationTargetException e) {
                Throwable failure = e.getCause();
                if (failure instanceof SQLException sql // 25P02 only echoes an earlier one
                        && !SqlState.IN_FAILED_TRANSACTION.equals(sql.getSQLState())) {
                    lastError = sql;
                    if (!SqlState.isDeterministic(sql)) {
                        transientError = sql;
                    }
                }
                throw failure == null ? e : failure;
            }
        }
    }
}
