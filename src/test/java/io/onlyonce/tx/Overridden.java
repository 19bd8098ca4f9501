package io.onlyonce.tx;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.Callable;

import javax.sql.DataSource;

/** Lends connections on which some methods behave as an odd driver's or pool's do. */
final class Overridden {

    private Overridden() {}

    static DataSource of(DataSource real, Map<String, Callable<Object>> methods) {
        return (DataSource)
                Proxy.newProxyInstance(
                        Overridden.class.getClassLoader(),
                        new Class<?>[] {DataSource.class},
                        (self, method, args) ->
                                method.getName().equals("getConnection")
                                        ? connection(real.getConnection(), methods)
                                        : method.invoke(real, args));
    }

    static Connection connection(Connection real, Map<String, Callable<Object>> methods) {
        return (Connection)
                Proxy.newProxyInstance(
                        Overridden.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (self, method, args) -> {
                            Callable<Object> instead = methods.get(method.getName());
                            if (instead != null) {
                                if (method.getName().equals("close")) {
                                    real.close();
                                }
                                return instead.call();
                            }
                            try {
                                return method.invoke(real, args);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }
}
