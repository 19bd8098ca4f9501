package io.onlyonce.observe;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

/**
 * Asks PostgreSQL for the plan of every prepared query, with its parameters, just before it runs.
 */
final class Explained {

    private final List<String> plans = new CopyOnWriteArrayList<>();

    List<String> plans() {
        return plans;
    }

    DataSource source(DataSource source) {
        return proxy(
                DataSource.class,
                (self, method, args) -> {
                    Object result = call(source, method, args);
                    return result instanceof Connection connection
                            ? connection(connection)
                            : result;
                });
    }

    Connection connection(Connection connection) {
        return proxy(
                Connection.class,
                (self, method, args) -> {
                    Object result = call(connection, method, args);
                    return result instanceof PreparedStatement statement
                                    && String.valueOf(args[0]).matches("(?s)\\s*(SELECT|WITH).*")
                            ? statement(
                                    statement,
                                    connection.prepareStatement("EXPLAIN " + args[0]),
                                    String.valueOf(args[0]))
                            : result;
                });
    }

    private PreparedStatement statement(
            PreparedStatement statement, PreparedStatement explain, String sql) {
        return proxy(
                PreparedStatement.class,
                (self, method, args) -> {
                    if (method.getName().startsWith("set") && args.length == 2) {
                        call(explain, method, args);
                    } else if (method.getName().equals("executeQuery")) {
                        plans.add(sql + "\n" + plan(explain));
                    } else if (method.getName().equals("close")) {
                        explain.close();
                    }
                    return call(statement, method, args);
                });
    }

    private static String plan(PreparedStatement explain) throws SQLException {
        var plan = new StringBuilder();
        try (ResultSet row = explain.executeQuery()) {
            while (row.next()) {
                plan.append(row.getString(1)).append("\n");
            }
        }
        return plan.toString();
    }

    private static Object call(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
