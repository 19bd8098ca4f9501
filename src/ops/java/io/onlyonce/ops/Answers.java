package io.onlyonce.ops;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.Resolution;
import io.onlyonce.observe.Inspector;
import io.onlyonce.observe.Inspector.Overview;
import io.onlyonce.outbox.DeadLetters;
import io.onlyonce.retention.PurgeReport;
import io.onlyonce.retention.Retention;
import io.onlyonce.retention.RetentionOptions;

import java.io.IOException;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import javax.sql.DataSource;

/** Each command of the tool. */
final class Answers {

    private static final int BATCH = 100;
    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final Arguments arguments;
    private final OnlyOnce once;
    private final DataSource dataSource;
    private final PrintStream out;
    private final PrintStream err;
    private long toldAt = System.nanoTime();

    Answers(
            Arguments arguments,
            OnlyOnce once,
            DataSource dataSource,
            PrintStream out,
            PrintStream err) {
        this.arguments = arguments;
        this.once = once;
        this.dataSource = dataSource;
        this.out = out;
        this.err = err;
    }

    int answer() throws SQLException, IOException {
        return switch (arguments.command()) {
            case "status" -> status();
            case "stuck" -> stuck();
            case "callers" -> callers();
            case "sizes" -> sizes();
            case "resolve" -> resolve();
            case "dead-letters" -> deadLetters();
            case "requeue" -> requeue();
            case "purge" -> purge();
            default ->
                    throw new IllegalArgumentException(
                            "There is no command \"" + arguments.command() + "\".");
        };
    }

    private int print(Table table) throws IOException {
        out.print(arguments.has("json") ? table.json() : table.text());
        out.flush();
        return 0;
    }

    private int status() throws SQLException, IOException {
        Inspector inspector = once.inspector();
        var table = new Table("what", "rows", "since");
        try (Connection connection = dataSource.getConnection()) {
            add(table, "commands whose outcome is unknown", inspector.unresolved(connection));
            inspector
                    .inFlight(connection)
                    .ifPresent(now -> table.add("claims in flight", now.locks(), now.since()));
            add(table, "commands to purge", inspector.overdue(connection));
            add(table, "events to publish", inspector.backlog(connection));
            add(table, "dead letters", inspector.deadLetters(connection));
            table.add(
                    "aggregates that wait",
                    (long) inspector.blocked(connection, (int) Inspector.COUNTED).size(),
                    Optional.empty());
            table.add(
                    "messages claimed and not finished",
                    (long) inspector.unfinishedMessages(connection, (int) Inspector.COUNTED).size(),
                    Optional.empty());
        }
        return print(table);
    }

    private static void add(Table table, String what, Overview overview) {
        table.add(what, overview.rows(), overview.since());
    }

    private int stuck() throws SQLException, IOException {
        Inspector inspector = once.inspector();
        int limit = arguments.limit();
        var table = new Table("what", "since", "tenant", "who", "about", "id");
        try (Connection connection = dataSource.getConnection()) {
            for (var command : inspector.unresolvedCommands(connection, limit)) {
                table.add(
                        "command",
                        command.startedAt(),
                        command.scope().tenant(),
                        command.scope().caller(),
                        command.scope().operation(),
                        command.id());
            }
            for (var message : inspector.unfinishedMessages(connection, limit)) {
                table.add(
                        "message",
                        message.receivedAt(),
                        message.tenant(),
                        message.consumer(),
                        message.source(),
                        message.id());
            }
            for (var blocked : inspector.blocked(connection, limit)) {
                table.add(
                        "aggregate",
                        blocked.since(),
                        blocked.tenant(),
                        blocked.waiting() + " waiting",
                        blocked.type(),
                        blocked.id());
            }
        }
        return print(table);
    }

    private int callers() throws SQLException, IOException {
        var table = new Table("tenant", "caller", "new ids");
        Duration window = arguments.duration("window", Duration.ofHours(1));
        try (Connection connection = dataSource.getConnection()) {
            once.inspector()
                    .newIds(connection, window, arguments.limit())
                    .forEach(each -> table.add(each.tenant(), each.caller(), each.commands()));
        }
        return print(table);
    }

    private int sizes() throws SQLException, IOException {
        var table = new Table("table", "rows, about", "kB", "kB of indexes");
        try (Connection connection = dataSource.getConnection()) {
            for (var size : once.inspector().sizes(connection)) {
                table.add(size.table(), size.rows(), size.bytes() / 1024, size.indexBytes() / 1024);
            }
        }
        return print(table);
    }

    /**
     * Without a result: a result has a codec, and maybe a cipher, that only the application has.
     */
    private int resolve() throws SQLException, IOException {
        if (arguments.has("completed") == arguments.has("released")) {
            throw new IllegalArgumentException(
                    "resolve needs --completed (its effect is there) or --released (it is not).");
        }
        var scope =
                new CommandScope(
                        arguments.need("tenant"),
                        arguments.need("caller"),
                        arguments.need("operation"));
        boolean released = arguments.has("released");
        String id = arguments.need("id");
        String who = arguments.need("who");
        String why = arguments.need("why");
        once.transactions()
                .execute(
                        connection -> {
                            once.dedup()
                                    .resolve(
                                            connection,
                                            scope,
                                            id,
                                            released
                                                    ? Resolution.released()
                                                    : Resolution.completedWithoutResult(),
                                            who,
                                            why);
                            return 0;
                        });
        return print(
                new Table("command", "is now")
                        .add(
                                id,
                                released
                                        ? "released: the next attempt runs"
                                        : "resolved: attempts are told that it is done, without a"
                                                + " result"));
    }

    private int deadLetters() throws SQLException, IOException {
        var table = new Table("since", "tenant", "key", "aggregate", "type", "error");
        for (var letter : listed(arguments.limit())) {
            table.add(
                    letter.event().delivery().appendedAt(),
                    letter.event().delivery().tenant(),
                    letter.event().key(),
                    letter.event().aggregateType() + " " + letter.event().aggregateId(),
                    letter.event().type(),
                    letter.error());
        }
        return print(table);
    }

    private List<DeadLetters.DeadLetter> listed(int limit) throws SQLException {
        return once.transactions()
                .execute(connection -> once.deadLetters().list(connection, limit));
    }

    private int requeue() throws SQLException, IOException {
        long requeued = 0;
        if (arguments.has("all")) {
            List<DeadLetters.DeadLetter> letters = listed(BATCH);
            while (!letters.isEmpty()) {
                long before = requeued;
                for (var letter : letters) {
                    requeued += requeue(letter.event().delivery().tenant(), letter.event().key());
                }
                tell("requeued " + requeued + " events");
                letters = requeued == before ? List.of() : listed(BATCH);
            }
        } else {
            requeued = requeue(arguments.need("tenant"), arguments.need("key"));
        }
        print(new Table("requeued").add(requeued));
        return requeued > 0 || arguments.has("all") ? 0 : 1;
    }

    private int requeue(String tenant, String key) throws SQLException {
        return once.transactions()
                        .execute(connection -> once.deadLetters().requeue(connection, tenant, key))
                ? 1
                : 0;
    }

    private int purge() throws SQLException, IOException {
        RetentionOptions standard = RetentionOptions.standard();
        Retention retention =
                once.retention(
                        standard.withEventsKept(
                                        arguments.duration("events-kept", standard.eventsKept()))
                                .withMessagesKept(
                                        arguments.duration(
                                                "messages-kept", standard.messagesKept())));
        boolean isDry = arguments.has("dry-run");
        Duration deadline = arguments.duration("deadline", Duration.ofMinutes(10));
        PurgeReport report =
                isDry
                        ? retention.preview()
                        : retention.runOnce(
                                deadline, so -> tell("removed " + so.total() + " rows"));
        print(
                new Table("rows", isDry ? "would be removed" : "removed")
                        .add("commands", report.commands())
                        .add("messages", report.messages())
                        .add("events", report.events()));
        if (!isDry && report.end() != PurgeReport.End.DONE) {
            err.println("not done: " + report.end() + ", at least " + report.left() + " left");
            return 1;
        }
        return 0;
    }

    /** At most one line in a second. */
    private void tell(String progress) {
        if (System.nanoTime() - toldAt > SECOND) {
            toldAt = System.nanoTime();
            err.println(progress);
        }
    }
}
