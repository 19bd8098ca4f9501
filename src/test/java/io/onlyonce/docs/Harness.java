package io.onlyonce.docs;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

import javax.sql.DataSource;

/**
 * What the code around a document's snippets stands on: a PostgreSQL database with the library's
 * tables, for the whole document. Every public method of a harness is a test.
 */
public abstract class Harness {

    protected TestDatabase db;
    protected DataSource dataSource;
    protected OnlyOnce once;

    final void stand(TestDatabase db, DataSource dataSource, OnlyOnce once) {
        this.db = db;
        this.dataSource = dataSource;
        this.once = once;
    }

    /** Runs one statement, and says how many rows it touched. */
    protected static int update(Connection connection, String sql, Object... values)
            throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    /** The first column of the first row as text; null if there is none. */
    protected static String text(Connection connection, String sql, Object... values)
            throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            try (var rows = statement.executeQuery()) {
                return rows.next() ? rows.getString(1) : null;
            }
        }
    }

    /** The first column of the first row as a number; 0 if there is none. */
    protected static long number(Connection connection, String sql, Object... values)
            throws SQLException {
        String text = text(connection, sql, values);
        return text == null ? 0 : Long.parseLong(text);
    }

    /** Makes the tables that a document shows, in the place of any there were. */
    protected void tables(String document) throws Exception {
        db.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        for (Page.Snippet block : Page.sql(Path.of(document))) {
            db.execute(String.join("\n", block.code()));
        }
    }

    /** What the relay publishes when it is let loose now. */
    protected List<OutboxEvent> published() throws Exception {
        List<OutboxEvent> published = new ArrayList<>();
        try (var relay =
                once.relay(
                        events -> {
                            published.addAll(events);
                            return events.stream().map(e -> PublishResult.published()).toList();
                        })) {
            while (relay.runOnce() > 0) {}
        }
        return published;
    }

    protected static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
