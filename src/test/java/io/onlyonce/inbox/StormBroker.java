package io.onlyonce.inbox;

import io.onlyonce.ground.Markers;

import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A consumer's connection to a broker that is a table. What is taken and not acknowledged is held
 * by an open transaction, so it is delivered again when its consumer dies.
 */
final class StormBroker implements AutoCloseable {

    static final String TABLES =
            """
            CREATE TABLE delivery (n bigserial PRIMARY KEY, message int NOT NULL, payload text NOT NULL,
                state text NOT NULL DEFAULT 'waiting', answer text);
            CREATE INDEX ON delivery (n) WHERE state = 'waiting';
            CREATE TABLE effect (message int NOT NULL, payload text NOT NULL, consumer text NOT NULL);
            """;

    /**
     * Every message one to four times in any order, and of every hundredth one more copy with
     * another payload.
     */
    static final String DELIVERIES =
            """
            INSERT INTO delivery (message, payload)
            SELECT message, payload FROM (
                SELECT m, 'first' FROM generate_series(1, %1$d) m, generate_series(1, 1 + (hashint4(m) & 3))
                UNION ALL SELECT m, 'other' FROM generate_series(100, %1$d, 100) m) d (message, payload)
            ORDER BY random();
            """;

    private final Connection connection;

    StormBroker(Connection connection) throws SQLException {
        this.connection = connection;
        connection.setAutoCommit(false);
    }

    /** A message on its way; three messages that differ only in their source share an id. */
    record Delivery(long number, int message, String payload) {

        InboxMessage toMessage() {
            return InboxMessage.of(
                    "acme",
                    "source-" + message % 3,
                    Markers.MARK + message / 3,
                    payload.getBytes());
        }
    }

    /** Some that nobody else has, first come first served; empty if there are none. */
    List<Delivery> take(int most) throws SQLException {
        String sql =
                """
                SELECT n, message, payload FROM delivery WHERE state = 'waiting'
                ORDER BY n LIMIT ? FOR UPDATE SKIP LOCKED
                """;
        List<Delivery> taken = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, most);
            try (var row = statement.executeQuery()) {
                while (row.next()) {
                    taken.add(
                            new Delivery(
                                    row.getLong("n"),
                                    row.getInt("message"),
                                    row.getString("payload")));
                }
            }
        }
        return taken;
    }

    /** Acknowledges what is done, sets aside what is refused, and lets go of the rest. */
    void settle(List<Delivery> taken, List<InboxAnswer> answers) throws SQLException {
        Map<String, List<Long>> byAnswer = new HashMap<>();
        for (int i = 0; i < taken.size(); i++) {
            byAnswer.computeIfAbsent(state(answers.get(i)), s -> new ArrayList<>())
                    .add(taken.get(i).number());
        }
        String sql = "UPDATE delivery SET state = ?, answer = ? WHERE n = ANY (?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (var each : byAnswer.entrySet()) {
                String[] words = each.getKey().split(" ");
                Array numbers = connection.createArrayOf("int8", each.getValue().toArray());
                statement.setString(1, words[0]);
                statement.setString(2, words[1]);
                statement.setArray(3, numbers);
                statement.executeUpdate();
            }
        }
        connection.commit();
    }

    private static String state(InboxAnswer answer) {
        String state = "waiting";
        if (answer.isDone()) {
            state = "acknowledged";
        } else if (answer instanceof InboxAnswer.IdentityViolation) {
            state = "aside";
        }
        return state + " " + answer.getClass().getSimpleName();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
