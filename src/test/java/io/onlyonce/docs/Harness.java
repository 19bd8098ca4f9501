package io.onlyonce.docs;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;

import java.nio.charset.StandardCharsets;
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

    /** The first column of the first row. */
    protected static Object ask(Connection connection, String sql, Object... values)
            throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            try (var rows = statement.executeQuery()) {
                if (!rows.next()) {
                    throw new AssertionError("no row: " + sql);
                }
                return rows.getObject(1);
            }
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
