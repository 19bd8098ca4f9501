package io.onlyonce.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.Fault;
import io.onlyonce.ground.FaultProxy;

import java.io.IOException;
import java.time.Duration;

/** A thread's own way to the database: a pool behind a proxy that faults of its calls strike. */
final class Desk {

    /** What the library's statements can be known by, one word per step. */
    private static final String COMMAND_CLAIM = "command_dedup";

    private static final String INBOX_CLAIM = "inbox_message";
    private static final String WORK = "torture_work";
    private static final String COMMIT = "COMMIT";
    private static final String FETCH = "outbox_blocked";
    private static final String MARK = "synchronous_commit";
    private static final String CHUNK = "gone";

    private final FaultProxy proxy;
    private final HikariDataSource pool;

    Desk(Address address, int size) throws IOException {
        proxy = FaultProxy.to(address.host(), address.port());
        pool = pool(address.through(proxy.port()), address, size);
    }

    static HikariDataSource pool(String url, Address address, int size) {
        var config = new HikariConfig();
        config.setDataSource(DataSources.unpooled(url, address.user(), address.password()));
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setConnectionTimeout(4_000);
        config.setInitializationFailTimeout(-1);
        // HikariCP 7.1 asks its first connection for the default; if the server crashes just then,
        // it takes -1 for it and refuses every later connection.
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        return new HikariDataSource(config);
    }

    /** Where the server is, without a proxy. */
    record Address(
            String host, int port, String database, String user, String password, String name) {

        /** The same, under a name that the server knows its connections by. */
        Address named(String other) {
            return new Address(host, port, database, user, password, other);
        }

        String direct() {
            return through(port);
        }

        String through(int proxyPort) {
            return ("jdbc:postgresql://127.0.0.1:%d/%s?connectTimeout=3&socketTimeout=12"
                            + "&ApplicationName=%s")
                    .formatted(proxyPort, database, name);
        }
    }

    HikariDataSource pool() {
        return pool;
    }

    FaultProxy proxy() {
        return proxy;
    }

    /** Arms what the network does at a step; {@link FaultProxy#hasFired} says whether it came. */
    void arm(Cell.Site site, Cell.Kind kind, Cell.Step step) {
        if (kind == Cell.Kind.DELAY) {
            proxy.delay(Duration.ofMillis(15));
            return;
        }
        boolean cut = kind == Cell.Kind.CUT;
        Fault fault =
                step.isRequest()
                        ? cut ? Fault.CUT_REQUEST : Fault.SILENCE
                        : cut ? Fault.CUT_ANSWER : Fault.SILENCE_ANSWER;
        proxy.arm(fault, keyword(site, step), 1);
    }

    private static String keyword(Cell.Site site, Cell.Step step) {
        return switch (step) {
            case CLAIM_REQUEST, CLAIM_ANSWER ->
                    site == Cell.Site.INBOX ? INBOX_CLAIM : COMMAND_CLAIM;
            case WORK_REQUEST, WORK_ANSWER -> WORK;
            case COMMIT_REQUEST, COMMIT_ANSWER -> COMMIT;
            case FETCH_REQUEST, FETCH_ANSWER -> FETCH;
            case MARK_REQUEST, MARK_ANSWER -> MARK;
            case CHUNK_REQUEST, CHUNK_ANSWER -> CHUNK;
            default -> throw new IllegalArgumentException("no statement of its own: " + step);
        };
    }
}
