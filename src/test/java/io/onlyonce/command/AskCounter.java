package io.onlyonce.command;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

/** Counts, thread by thread, how often a connection is asked for. */
final class AskCounter {

    private final ConcurrentHashMap<Thread, Integer> asks = new ConcurrentHashMap<>();
    private final DataSource dataSource;

    AskCounter(DataSource counted) {
        dataSource =
                (DataSource)
                        Proxy.newProxyInstance(
                                DataSource.class.getClassLoader(),
                                new Class<?>[] {DataSource.class},
                                (proxy, method, args) -> {
                                    if (method.getName().equals("getConnection")) {
                                        asks.merge(Thread.currentThread(), 1, Integer::sum);
                                    }
                                    try {
                                        return method.invoke(counted, args);
                                    } catch (InvocationTargetException e) {
                                        throw e.getCause();
                                    }
                                });
    }

    DataSource dataSource() {
        return dataSource;
    }

    void reset() {
        asks.clear();
    }

    int callers() {
        return asks.size();
    }

    /** The most that one of them asked. */
    int most() {
        return counts().stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    List<Integer> counts() {
        return List.copyOf(asks.values());
    }
}
