package io.onlyonce.outbox;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

/** A data source that does something before each connection; it may throw instead of giving one. */
final class HookedSource {

    /** What happens before a connection is given. */
    @FunctionalInterface
    interface Hook {
        void before() throws SQLException, InterruptedException;
    }

    private HookedSource() {}

    static DataSource of(DataSource source, Hook hook) {
        return (DataSource)
                Proxy.newProxyInstance(
                        HookedSource.class.getClassLoader(),
                        new Class<?>[] {DataSource.class},
                        (proxy, method, args) -> {
                            if (method.getName().equals("getConnection")) {
                                hook.before();
                            }
                            try {
                                return method.invoke(source, args);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                        });
    }

    /** A hook that fails as told, once. */
    static Hook once(AtomicReference<Throwable> failure) {
        return () -> {
            Throwable now = failure.getAndSet(null);
            if (now instanceof SQLException e) {
                throw e;
            }
            if (now instanceof Error e) {
                throw e;
            }
        };
    }
}
