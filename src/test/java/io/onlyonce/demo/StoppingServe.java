package io.onlyonce.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.DataSources;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;

import javax.sql.DataSource;

/** The server with a place to kill it: before or after the trip that commits a command. */
final class StoppingServe {

    static final String BEFORE = "before-commit";
    static final String AFTER = "after-commit";

    private StoppingServe() {}

    /** Arguments: URL, user, password, and which of the two places. */
    public static void main(String[] args) throws Exception {
        var config = new HikariConfig();
        config.setDataSource(stopping(DataSources.unpooled(args[0], args[1], args[2]), args[3]));
        var dataSource = new HikariDataSource(config);
        CaseTables.create(dataSource);
        var server = new CaseServer(dataSource, 0);
        server.start();
        System.out.println("Listening on " + server.port());
    }

    private static DataSource stopping(DataSource source, String where) {
        return proxy(
                DataSource.class,
                (self, method, args) -> {
                    Object result = call(method, source, args);
                    return result instanceof Connection c ? stopping(c, where) : result;
                });
    }

    private static Connection stopping(Connection connection, String where) {
        return proxy(
                Connection.class,
                (self, method, args) -> {
                    Object result = call(method, connection, args);
                    boolean commits =
                            result instanceof PreparedStatement
                                    && args[0].toString().contains("command_dedup")
                                    && args[0].toString().endsWith("COMMIT");
                    return commits ? stopping((PreparedStatement) result, where) : result;
                });
    }

    private static PreparedStatement stopping(PreparedStatement statement, String where) {
        return proxy(
                PreparedStatement.class,
                (self, method, args) -> {
                    boolean runs = method.getName().startsWith("execute");
                    if (runs && where.equals(BEFORE)) {
                        Checkpoint.reached(where);
                    }
                    Object result = call(method, statement, args);
                    if (runs && where.equals(AFTER)) {
                        Checkpoint.reached(where);
                    }
                    return result;
                });
    }

    private static Object call(Method method, Object target, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(
                        StoppingServe.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
