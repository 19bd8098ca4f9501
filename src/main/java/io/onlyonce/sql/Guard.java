package io.onlyonce.sql;

import io.onlyonce.tx.TransactionControlException;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Set;

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
                    DatabaseMetaData.class);

    private final Connection proxy;
    private volatile boolean ended;
    private volatile @Nullable SQLException lastError;
    private volatile boolean metTransientError;

    Guard(Connection connection) {
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

    /** True if the work met an SQL error that says nothing about its input, swallowed or not. */
    boolean metTransientError() {
        return metTransientError;
    }

    /** From now on the work's connection, and all that came from it, refuses everything. */
    void end() {
        ended = true;
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

        @Override
        public @Nullable Object invoke(Object self, Method method, Object @Nullable [] args)
                throws Throwable {
            String name = method.getName();
            if (method.getDeclaringClass() == Object.class) {
                return identity(self, name, args);
            }
            refuseIfForbidden(name, args);
            if (name.equals("getConnection")) {
                return proxy;
            }
            if (name.equals("getStatement") && parent instanceof Statement) {
                return parent;
            }
            Object result = call(method, args);
            Class<?> type = method.getReturnType();
            return result != null && LEADS_BACK.contains(type) ? wrap(type, result, self) : result;
        }

        private Object identity(Object self, String name, Object @Nullable [] args) {
            return switch (name) {
                case "equals" -> args != null && self == args[0];
                case "hashCode" -> System.identityHashCode(self);
                default -> "guarded " + delegate;
            };
        }

        private void refuseIfForbidden(String name, Object @Nullable [] args) {
            if (ended) {
                if (name.equals("close") || name.equals("isClosed")) {
                    return;
                }
                throw new TransactionControlException(
                        name, "the transaction of this connection has ended");
            }
            if (delegate instanceof Connection && endsTransaction(name, args)) {
                throw new TransactionControlException(name, "the transaction belongs to OnlyOnce");
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

        private @Nullable Object call(Method method, Object @Nullable [] args) throws Throwable {
            if (ended
                    && delegate
                            instanceof Connection) { // the pool may have given it to somebody else
                return method.getName().equals("isClosed") ? true : null;
            }
            try {
                return method.invoke(delegate, args);
            } catch (InvocationTargetException e) {
                Throwable failure = e.getCause();
                if (failure instanceof SQLException sql) {
                    lastError = sql;
                    metTransientError |= !SqlState.isDeterministic(sql);
                }
                throw failure == null ? e : failure;
            }
        }
    }
}
