package io.onlyonce.inbox;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;

import javax.sql.DataSource;

/** A consumer whose effects can be counted: one row for each time a message was applied. */
final class Mailroom {

    private Mailroom() {}

    static void open(TestDatabase db) throws SQLException {
        Schema.apply(db.dataSource());
        db.execute(
                "CREATE TABLE effect (message varchar(255) NOT NULL, what varchar(80) NOT NULL)");
    }

    static OnlyOnce once(DataSource dataSource) throws SQLException {
        return OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
    }

    static InboxMessage message(String id) {
        return message(id, "hello " + Markers.MARK);
    }

    static InboxMessage message(String id, String payload) {
        return InboxMessage.of("acme", "orders", id, payload.getBytes(UTF_8));
    }

    static String id(String what) {
        return what + "-" + Markers.MARK + "-" + UUID.randomUUID();
    }

    static void apply(Incoming incoming) throws SQLException {
        apply(incoming.connection(), incoming.message().id());
    }

    static void apply(Connection connection, String id) throws SQLException {
        try (var statement = connection.prepareStatement("INSERT INTO effect VALUES (?, 'done')")) {
            statement.setString(1, id);
            statement.executeUpdate();
        }
    }

    static long effects(TestDatabase db, String id) throws SQLException {
        return db.count("SELECT count(*) FROM effect WHERE message = '" + id + "'");
    }
}
