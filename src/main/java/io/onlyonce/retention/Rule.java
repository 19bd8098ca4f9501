package io.onlyonce.retention;

import io.onlyonce.sql.Database;
import io.onlyonce.sql.PostgreSql;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Which rows of a table may go, and what becomes of them; the same on every database.
 *
 * @param time the column that is compared with the database's clock; it has an index
 * @param due the rest of the condition; of what is in flight, unresolved, unpublished or dead it
 *     must not be true
 * @param kept how long a row stays after that time
 * @param operation of which operation alone; empty for all
 * @param set what is changed in a row instead of removing it
 * @param key what identifies a row
 */
record Rule(
        Kind kind,
        String table,
        String time,
        String due,
        Duration kept,
        Optional<String> operation,
        Optional<String> set,
        String key) {

    /** What a row is counted as. */
    enum Kind {
        COMMANDS,
        TOMBSTONES,
        MESSAGES,
        EVENTS,
        ARCHIVE
    }

    private static final String COMMAND_KEY = "command_id, operation, caller, tenant";

    static List<Rule> of(RetentionOptions options, Database database) {
        boolean postgres = database instanceof PostgreSql;
        List<Rule> rules = new ArrayList<>();
        for (String operation : options.tombstoned()) {
            rules.add(tombstones(operation));
        }
        rules.add(commands(postgres));
        rules.add(messages(options.messagesKept()));
        rules.add(events(options.eventsKept()));
        options.archiveKept().ifPresent(kept -> rules.add(archive(kept)));
        return rules;
    }

    /** A claim that nobody finished has the status 0, and a forget_at that is far too old. */
    private static Rule commands(boolean postgres) {
        return new Rule(
                Kind.COMMANDS,
                "command_dedup",
                "forget_at",
                postgres // the second is the index's own condition
                        ? "status <> 0 AND forget_at > '-infinity' AND forget_at < 'infinity'"
                        : "status <> 0",
                Duration.ZERO,
                Optional.empty(),
                Optional.empty(),
                COMMAND_KEY);
    }

    private static Rule tombstones(String operation) {
        return new Rule(
                Kind.TOMBSTONES,
                "command_dedup",
                "expires_at",
                "status <> 0 AND content_tag IS NOT NULL",
                Duration.ZERO,
                Optional.of(operation),
                Optional.of("result = NULL, content_tag = NULL"),
                COMMAND_KEY);
    }

    private static Rule messages(Duration kept) {
        return new Rule(
                Kind.MESSAGES,
                "inbox_message",
                "processed_at",
                "status = 1",
                kept,
                Optional.empty(),
                Optional.empty(),
                "message_id, source, consumer, tenant");
    }

    /** All that retention knows of the outbox: an event that was published or discarded. */
    private static Rule events(Duration kept) {
        return new Rule(
                Kind.EVENTS,
                "outbox_event",
                "settled_at",
                "state IN (1, 4)",
                kept,
                Optional.empty(),
                Optional.empty(),
                "event_key, tenant");
    }

    private static Rule archive(Duration kept) {
        return new Rule(
                Kind.ARCHIVE,
                "command_archive",
                "archived_at",
                "archive_id IS NOT NULL",
                kept,
                Optional.empty(),
                Optional.empty(),
                "archive_id");
    }
}
