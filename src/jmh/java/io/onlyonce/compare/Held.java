package io.onlyonce.compare;

import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

/** A pool that notes for how long each connection is out, from its loan until it is back. */
final class Held {

    private final Histogram nanos = new ConcurrentHistogram(TimeUnit.MINUTES.toNanos(1), 3);
    private final DataSource pool;

    Held(DataSource pool) {
        this.pool = pool;
    }

    Histogram nanos() {
        return nanos;
    }

    DataSource source() {
        return (DataSource)
                Proxy.newProxyInstance(
                        Held.class.getClassLoader(),
                        new Class<?>[] {DataSource.class},
                        (proxy, method, args) ->
                                method.getName().equals("getConnection")
                                        ? lend()
                                        : method.invoke(pool, args));
    }

    private Connection lend() throws SQLException {
        Connection connection = pool.getConnection();
        long start = System.nanoTime();
        return (Connection)
                Proxy.newProxyInstance(
                        Held.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, args) -> {
                            try {
                                return method.invoke(connection, args);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            } finally {
                                if (method.getName().equals("close")) {
                                    nanos.recordValue(System.nanoTime() - start);
                                }
                            }
                        });
    }
}
