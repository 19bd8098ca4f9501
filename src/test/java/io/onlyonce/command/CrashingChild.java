package io.onlyonce.command;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.Markers;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.Locale;

import javax.sql.DataSource;

/** Processes that run commands and are there to be killed. */
final class CrashingChild {

    private CrashingChild() {}

    /** Where a process can die. */
    enum Point {
        BEFORE_CLAIM,
        AFTER_CLAIM,
        AFTER_BUSINESS_WRITE,
        AFTER_APPEND,
        BEFORE_COMMIT,
        AFTER_COMMIT
    }

    static String id(Point point, Isolation isolation) {
        return Markers.MARK + (point + "-" + isolation).toLowerCase(Locale.ROOT);
    }

    static RunOptions at(Isolation isolation) {
        return RunOptions.standard()
                .withTransaction(TransactionOptions.readCommitted().withIsolation(isolation));
    }

    /** Not the same for two runs, so that two runs would be two events. */
    static OutboxEvent event(String id, String who) {
        return OutboxEvent.of(
                id + " by " + who, "Account", id, "Deposited", Markers.MARK.getBytes());
    }

    /** Runs one command for each point and level, each of which stops there for ever. */
    static final class Standing {
        public static void main(String[] args) throws Exception {
            DataSource database = DataSources.unpooled(args[0], args[1], args[2]);
            for (Point point : Point.values()) {
                for (Isolation isolation : Isolation.values()) {
                    new Thread(() -> stand(database, point, isolation)).start();
                }
            }
        }

        private static void stand(DataSource database, Point point, Isolation isolation) {
            String id = id(point, isolation);
            try {
                Bank.once(stopping(database, point, id))
                        .commands()
                        .run(
                                Bank.command(id),
                                String.class,
                                at(isolation),
                                work -> {
                                    stopIf(point == Point.AFTER_CLAIM, id);
                                    Bank.deposit(work.connection(), id, id);
                                    stopIf(point == Point.AFTER_BUSINESS_WRITE, id);
                                    work.outbox().append(event(id, "the child"));
                                    stopIf(point == Point.AFTER_APPEND, id);
                                    return "by the child";
                                });
            } catch (Exception e) {
                e.printStackTrace();
            }
        }

        private static void stopIf(boolean here, String id) throws InterruptedException {
            if (here) {
                Checkpoint.reached(id);
            }
        }

        /** Stops around the trips that only the library makes. */
        private static DataSource stopping(DataSource database, Point point, String id) {
            return proxy(
                    DataSource.class,
                    (method, args) -> {
                        Object result = method.invoke(database, args);
                        return result instanceof Connection c ? stopping(c, point, id) : result;
                    });
        }

        private static Connection stopping(Connection connection, Point point, String id) {
            return proxy(
                    Connection.class,
                    (method, args) -> {
                        Object result = method.invoke(connection, args);
                        return result instanceof PreparedStatement s
                                ? stopping(s, (String) args[0], point, id)
                                : result;
                    });
        }

        private static PreparedStatement stopping(
                PreparedStatement statement, String sql, Point point, String id) {
            boolean ours = sql.contains("command_dedup"); // the check of the schema commits too
            boolean commits = ours && sql.endsWith("COMMIT");
            boolean claims = ours && !commits;
            return proxy(
                    PreparedStatement.class,
                    (method, args) -> {
                        boolean runs = method.getName().equals("execute");
                        stopIf(runs && claims && point == Point.BEFORE_CLAIM, id);
                        stopIf(runs && commits && point == Point.BEFORE_COMMIT, id);
                        Object result = method.invoke(statement, args);
                        stopIf(runs && commits && point == Point.AFTER_COMMIT, id);
                        return result;
                    });
        }

        private interface Call {
            Object on(Method method, Object[] args) throws Throwable;
        }

        private static <T> T proxy(Class<T> type, Call call) {
            return type.cast(
                    Proxy.newProxyInstance(
                            type.getClassLoader(),
                            new Class<?>[] {type},
                            (self, method, args) -> {
                                try {
                                    return call.on(method, args);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            }));
        }
    }

    /** Runs one command after the other and says what it was told. */
    static final class Busy {

        static final int THREADS = 4;

        static Isolation level(int number) {
            return Isolation.values()[number % Isolation.values().length];
        }

        static String account(String prefix, int number) {
            return prefix + number % THREADS;
        }

        public static void main(String[] args) throws Exception {
            var config = new HikariConfig();
            config.setDataSource(DataSources.unpooled(args[0], args[1], args[2]));
            config.setMaximumPoolSize(THREADS);
            CommandRunner commands = Bank.once(new HikariDataSource(config)).commands();
            for (int thread = 0; thread < THREADS; thread++) {
                int first = thread;
                new Thread(() -> work(commands, args[3], first)).start();
            }
        }

        private static void work(CommandRunner commands, String prefix, int first) {
            try {
                for (int number = first; ; number += THREADS) {
                    String id = prefix + number;
                    String account = account(prefix, number);
                    System.out.println("asked " + id + " .");
                    Outcome<String> outcome =
                            commands.run(
                                    Bank.command(id),
                                    String.class,
                                    at(level(number)),
                                    work -> {
                                        Bank.deposit(work.connection(), account, id);
                                        work.outbox().append(event(id, "the child"));
                                        return "child:" + id;
                                    });
                    System.out.println("told " + id + " " + outcome.value() + " .");
                }
            } catch (Exception e) {
                e.printStackTrace();
            }
        }
    }
}
