package io.onlyonce.tx;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Logger;

import javax.sql.DataSource;

/**
 * Hands out the same connection again and again and ignores its close, as transaction-aware proxies
 * do; lets read-only be changed at any time, as some drivers do.
 */
record OneConnection(Connection connection, AtomicBoolean readOnly) implements DataSource {

    OneConnection(Connection connection) {
        this(connection, new AtomicBoolean());
    }

    @Override
    public Connection getConnection() {
        return (Connection)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, args) -> {
                            switch (method.getName()) {
                                case "close":
                                    return null;
                                case "setReadOnly":
                                    readOnly.set((boolean) args[0]);
                                    return null;
                                case "isReadOnly":
                                    return readOnly.get();
                                default:
                            }
                            try {
                                return method.invoke(connection, args);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    @Override
    public Connection getConnection(String user, String password) {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) {
        return type.cast(connection);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return type.isInstance(connection);
    }
}
