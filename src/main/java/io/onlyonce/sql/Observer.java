package io.onlyonce.sql;

import io.onlyonce.observe.OnlyOnceListener;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The user's listener, if there is one; whatever it throws ends here. */
public final class Observer {

    private static final Logger log = LoggerFactory.getLogger(Observer.class);

    /** Nobody listens. */
    public static final Observer NONE = new Observer(null);

    private final @Nullable OnlyOnceListener listener;
    private final AtomicBoolean warned = new AtomicBoolean();

    public Observer(@Nullable OnlyOnceListener listener) {
        this.listener = listener;
    }

    /** False if there is nothing to be measured or remembered. */
    public boolean isWatching() {
        return listener != null;
    }

    /** Tells; to be called without a connection in hand. */
    public void tell(Consumer<OnlyOnceListener> what) {
        if (listener == null) {
            return;
        }
        try {
            what.accept(listener);
        } catch (RuntimeException | Error e) { // what is decided and durable must not look failed
            if (warned.compareAndSet(false, true)) { // its message may quote anything
                log.warn(
                        "the listener threw {} and may do so again; this is said once",
                        e.getClass().getName());
            }
        }
    }

    /**
     * Tells of what was done on this connection: after the transaction if it is one of ours, and
     * then only if it was committed; else at once.
     */
    public void tell(Connection connection, Consumer<OnlyOnceListener> what) {
        tell(connection, false, what);
    }

    /** The same, if it must be, of a transaction that was rolled back too. */
    public void tell(
            Connection connection, boolean alsoRolledBack, Consumer<OnlyOnceListener> what) {
        if (listener == null) {
            return;
        }
        boolean isOurs =
                Guard.afterwards(
                        connection,
                        committed -> {
                            if (committed || alsoRolledBack) {
                                tell(what);
                            }
                        });
        if (!isOurs) {
            tell(what);
        }
    }
}
