package io.onlyonce.ground;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;

import io.onlyonce.OnlyOnceException;

import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.ClassOrdererContext;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Ids and payloads of tests carry {@link #MARK}; no log event and no exception of the library's own
 * may show it. Log events of this JVM and its children are looked at as they come, and every
 * exception that this JVM made while any test ran is looked at by the last test of all.
 */
public final class Markers extends AppenderBase<ILoggingEvent> implements ClassOrderer {

    /** Nothing else looks like it. */
    public static final String MARK = "Qx7Zq";

    private static final String THROWN = "jdk.JavaExceptionThrow";
    private static final Path FOUND = Path.of("build", "tmp", "markers-in-logs.txt");
    private static final List<String> UNMARKED = new CopyOnWriteArrayList<>();
    private static final Recording EXCEPTIONS = new Recording();

    /** Puts the scan last, and begins to record when the first class is about to run. */
    @Override
    public void orderClasses(ClassOrdererContext context) {
        context.getClassDescriptors()
                .sort(
                        (a, b) ->
                                Boolean.compare(
                                        isScan(a.getTestClass()), isScan(b.getTestClass())));
        synchronized (EXCEPTIONS) {
            if (EXCEPTIONS.getStartTime() == null) {
                forgetLogs();
                EXCEPTIONS.enable(THROWN).withoutStackTrace();
                EXCEPTIONS.start();
            }
        }
    }

    private static boolean isScan(Class<?> test) {
        return test.getSimpleName().equals("MarkerScanTest");
    }

    /** Every log event of ours, at every level. */
    @Override
    protected void append(ILoggingEvent event) {
        String text =
                event.getLoggerName()
                        + ": "
                        + event.getFormattedMessage()
                        + (event.getThrowableProxy() == null
                                ? ""
                                : ThrowableProxyUtil.asString(event.getThrowableProxy()));
        if (text.contains(MARK)) {
            try {
                Files.createDirectories(FOUND.getParent());
                Files.writeString(
                        FOUND,
                        text.replace('\n', ' ') + "\n",
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void forgetLogs() {
        try {
            Files.deleteIfExists(FOUND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Log events with the mark in them. */
    public static List<String> inLogs() throws IOException {
        return Files.exists(FOUND) ? Files.readAllLines(FOUND) : List.of();
    }

    /** What the exceptions of the library said so far, in this JVM. */
    public static List<String> messages() throws IOException {
        Path file = Files.createTempFile("exceptions", ".jfr");
        try {
            EXCEPTIONS.dump(file);
            Map<String, Boolean> ours = new HashMap<>();
            List<String> messages = new ArrayList<>();
            try (var events = new RecordingFile(file)) {
                while (events.hasMoreEvents()) {
                    RecordedEvent event = events.readEvent();
                    boolean isThrown = event.getEventType().getName().equals(THROWN);
                    String message = isThrown ? event.getString("message") : null;
                    if (message != null && event.getClass("thrownClass") != null) {
                        String type = event.getClass("thrownClass").getName();
                        if (message.startsWith("A statement of OnlyOnce failed")
                                || ours.computeIfAbsent(type, Markers::isOurs)) {
                            messages.add(type + ": " + message);
                        }
                    }
                }
            }
            return messages;
        } finally {
            Files.delete(file);
        }
    }

    /** Notes whose ids and payloads could not have been found. */
    static void look(TestDatabase db) throws SQLException {
        String tables =
                "SELECT COUNT(*) FROM information_schema.tables WHERE LOWER(table_schema) ="
                        + " 'onlyonce'";
        if (!db.isPostgres() || db.count(tables) == 0) {
            return;
        }
        String unmarked =
                """
                SELECT string_agg(id, ', ') FROM (
                    SELECT command_id AS id FROM onlyonce.command_dedup UNION ALL
                    SELECT message_id FROM onlyonce.inbox_message UNION ALL
                    SELECT event_key || encode(payload, 'escape') FROM onlyonce.outbox_event) AS all_ids
                WHERE id NOT LIKE '%%%s%%'
                """
                        .formatted(MARK);
        String whose =
                StackWalker.getInstance()
                        .walk(
                                frames ->
                                        frames.map(StackWalker.StackFrame::getClassName)
                                                .filter(name -> name.startsWith("io.onlyonce."))
                                                .filter(name -> !name.contains(".ground."))
                                                .findFirst())
                        .orElse("a contract");
        db.value(unmarked, String.class)
                .ifPresent(
                        ids ->
                                UNMARKED.add(
                                        whose
                                                + ": "
                                                + ids.substring(0, Math.min(80, ids.length()))));
    }

    /** Tests that left rows without the mark. */
    public static List<String> unmarked() {
        return List.copyOf(UNMARKED);
    }

    private static boolean isOurs(String type) {
        if (!type.startsWith("io.onlyonce.")) {
            return false;
        }
        try {
            var source = Class.forName(type).getProtectionDomain().getCodeSource().getLocation();
            return source.equals(
                    OnlyOnceException.class.getProtectionDomain().getCodeSource().getLocation());
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
