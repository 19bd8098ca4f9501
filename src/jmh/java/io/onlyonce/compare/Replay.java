package io.onlyonce.compare;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRunner;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.Isolation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import javax.sql.DataSource;

/** A command that is known already: its result again, with and without the hint; and a mismatch. */
final class Replay implements Compare.Comparison {

    private static final int KNOWN = 2_000;
    private static final int BLOCK = 600;
    private static final int ACCOUNT = 7;

    private static final String HINT = "OnlyOnce, likely a retry";
    private static final String MISMATCH = "OnlyOnce, another payload";

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        List<String> ids = fill(ground, effort.of(KNOWN));
        var textbook = new Textbook(ground.pool(1, Isolation.READ_COMMITTED));
        CommandRunner commands = commands(ground.pool(1, Isolation.READ_COMMITTED));
        var ways =
                new Interleaved()
                        .add(
                                Fresh.TEXTBOOK,
                                () -> {
                                    String id = one(ids);
                                    return () -> textbook.run(id, ACCOUNT);
                                })
                        .add(
                                Fresh.OURS,
                                () -> {
                                    String id = one(ids);
                                    return () -> again(commands, command(id));
                                })
                        .add(
                                HINT,
                                () -> {
                                    String id = one(ids);
                                    return () -> again(commands, command(id).likelyRetry());
                                })
                        .add(
                                MISMATCH,
                                () -> {
                                    String id = one(ids);
                                    return () -> mismatch(commands, id);
                                });
        ways.run(ground, report, effort, BLOCK);
        report.add("replay, microseconds", Fresh.TEXTBOOK, ways.micros(Fresh.TEXTBOOK));
        for (String name : List.of(Fresh.OURS, HINT, MISMATCH)) {
            report.add("replay, microseconds", name, ways.micros(name));
            report.add("replay, p50 against textbook", name, ways.against(name, Fresh.TEXTBOOK));
        }
        trips(ground, report, one(ids));
    }

    /** Analysed, as it soon is in use. */
    private static List<String> fill(Ground ground, int known) throws Exception {
        List<String> ids = new ArrayList<>();
        try (var pool = ground.pool(1, Isolation.READ_COMMITTED)) {
            CommandRunner commands = commands(pool);
            for (int i = 0; i < known; i++) {
                ids.add(Business.id());
                run(commands, command(ids.get(i)));
            }
        }
        ground.execute("VACUUM ANALYZE onlyonce.command_dedup");
        return ids;
    }

    private static void trips(Ground ground, Report report, String id) throws Exception {
        try (var proxy = ground.proxy();
                var pool = ground.poolThrough(proxy, Isolation.READ_COMMITTED)) {
            var textbook = new Textbook(pool);
            CommandRunner commands = commands(pool);
            for (int i = 0; i < 10; i++) {
                textbook.run(id, ACCOUNT);
                again(commands, command(id));
                again(commands, command(id).likelyRetry());
            }
            proxy.resetCounters();
            textbook.run(id, ACCOUNT);
            report.add(
                    "replay, round trips", Fresh.TEXTBOOK, Spread.counted(proxy.roundTrips(), 1));
            proxy.resetCounters();
            again(commands, command(id));
            report.add("replay, round trips", Fresh.OURS, Spread.counted(proxy.roundTrips(), 1));
            proxy.resetCounters();
            again(commands, command(id).likelyRetry());
            report.add("replay, round trips", HINT, Spread.counted(proxy.roundTrips(), 1));
        }
    }

    static CommandRunner commands(DataSource pool) throws Exception {
        return OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).build().commands();
    }

    private static String one(List<String> ids) {
        return ids.get(ThreadLocalRandom.current().nextInt(ids.size()));
    }

    private static Command command(String id) {
        return Command.of(Business.SCOPE, id, hash(ACCOUNT));
    }

    private static PayloadHash hash(int account) {
        return PayloadHash.ofJson(Business.payload(account));
    }

    private static void run(CommandRunner commands, Command command) throws Exception {
        commands.run(
                command,
                Business.Receipt.class,
                work -> new Business.Receipt(command.id(), ACCOUNT, 10));
    }

    private static void again(CommandRunner commands, Command command) throws Exception {
        boolean replayed =
                commands.run(
                                command,
                                Business.Receipt.class,
                                work -> new Business.Receipt("none", ACCOUNT, 10))
                        .replayed();
        if (!replayed) {
            throw new IllegalStateException("it ran again");
        }
    }

    private static void mismatch(CommandRunner commands, String id) throws Exception {
        try {
            again(commands, Command.of(Business.SCOPE, id, hash(ACCOUNT + 1)));
            throw new IllegalStateException("another payload was not refused");
        } catch (PayloadMismatchException e) {
            // as promised
        }
    }
}
