package io.onlyonce.outbox;

import io.onlyonce.ground.TestDatabase;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;

/** What the publishers of a storm wrote down, and what it proves. For use by one thread. */
final class StormLedger implements AutoCloseable {

    private final Connection connection;

    StormLedger(TestDatabase db) throws SQLException {
        db.execute(
                """
                CREATE TABLE delivery (n bigserial PRIMARY KEY, relay text, call bigint, event_id uuid,
                    event_key text, aggregate text, version bigint);
                CREATE TABLE fate (call bigint PRIMARY KEY, what text, unmarked bigint, refused bigint);
                CREATE TABLE mishap (what text);
                CREATE SEQUENCE calls;
                CREATE TABLE marked (event_key text PRIMARY KEY, n bigint DEFAULT nextval('delivery_n_seq'));
                CREATE FUNCTION note_mark() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN INSERT INTO marked (event_key) VALUES (NEW.event_key); RETURN NULL; END $$;
                CREATE TRIGGER note_mark AFTER UPDATE ON onlyonce.outbox_event FOR EACH ROW
                    WHEN (NEW.state = 1) EXECUTE FUNCTION note_mark();
                """);
        connection = db.connect();
    }

    long deliveries() throws SQLException {
        return number("SELECT count(*) FROM delivery");
    }

    long published() throws SQLException {
        return number("SELECT count(*) FROM onlyonce.outbox_event WHERE state = 1");
    }

    long pending() throws SQLException {
        return number("SELECT count(*) FROM onlyonce.outbox_event WHERE state IN (0, 3)");
    }

    long blocked() throws SQLException {
        return number("SELECT count(*) FROM onlyonce.outbox_blocked");
    }

    long lost() throws SQLException {
        return number(
                """
                SELECT count(*) FROM onlyonce.outbox_event e
                WHERE NOT EXISTS (SELECT FROM delivery d WHERE d.event_key = e.event_key)
                """);
    }

    /** Deliveries of what is not in the outbox, or under another id than the row's. */
    long falseOnes() throws SQLException {
        return number(
                """
                SELECT count(*) FROM delivery d LEFT JOIN onlyonce.outbox_event e ON e.event_key = d.event_key
                WHERE e.event_id IS DISTINCT FROM d.event_id OR e.aggregate_version <> d.version
                """);
    }

    /** Events whose first delivery was not in the place that their version says. */
    long outOfOrder() throws SQLException {
        return number(
                """
                SELECT count(*) FROM (
                    SELECT version, row_number() OVER (PARTITION BY aggregate ORDER BY first) AS place
                    FROM (SELECT aggregate, version, min(n) AS first FROM delivery GROUP BY 1, 2) f) p
                WHERE version <> place
                """);
    }

    /**
     * Second and further deliveries: before the event was marked, by what became of the call of the
     * delivery before; after it, "late". A call's fate is told when the next one begins; the mark
     * of the other lane may still be on its way then.
     */
    Map<String, Long> duplicates() throws SQLException {
        return counts(
                """
                SELECT CASE WHEN m.n < d.n AND own.call IS NOT NULL THEN 'late'
                    WHEN m.n < d.n THEN 'the relay was killed in it, late'
                    WHEN was.what = 'marked' THEN 'the mark was lost or refused, told later'
                    ELSE coalesce(was.what, 'the relay was killed in it') END AS why, count(*) AS times
                FROM (SELECT n, event_key, call, lag(call) OVER (PARTITION BY event_key ORDER BY n) AS before
                    FROM delivery) d
                LEFT JOIN fate was ON was.call = d.before LEFT JOIN fate own ON own.call = d.call
                LEFT JOIN marked m ON m.event_key = d.event_key
                WHERE d.before IS NOT NULL GROUP BY 1
                """);
    }

    /** Events that were offered by relays that could not mark them, as the relays tell it. */
    long unmarked() throws SQLException {
        return number("SELECT coalesce(sum(unmarked), 0) FROM fate");
    }

    Map<String, Long> mishaps() throws SQLException {
        return counts(
                """
                SELECT what AS why, count(*) AS times FROM mishap GROUP BY 1
                UNION ALL SELECT 'calls', last_value FROM calls
                UNION ALL SELECT 'calls that failed', count(*) FROM fate WHERE what = 'the call failed'
                UNION ALL SELECT 'events refused', coalesce(sum(refused), 0) FROM fate
                UNION ALL SELECT 'events whose mark was lost or refused', coalesce(sum(unmarked), 0) FROM fate
                """);
    }

    /** Terminates one backend of a relay, whatever it is doing. */
    void terminateOne() throws SQLException {
        number(
                """
                WITH one AS (SELECT pid FROM pg_stat_activity WHERE datname = current_database()
                    AND application_name = '%s' ORDER BY random() LIMIT 1),
                noted AS (INSERT INTO mishap SELECT 'backend terminated at random' FROM one WHERE pg_terminate_backend(pid)
                    RETURNING 1)
                SELECT count(*) FROM noted
                """
                        .formatted(StormRelays.APPLICATION));
    }

    /** Relays that the database takes for alive. */
    long relaysAlive() throws SQLException {
        return number("SELECT count(*) FROM onlyonce.outbox_relay WHERE expires_at > now()");
    }

    private synchronized long number(String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private synchronized Map<String, Long> counts(String sql) throws SQLException {
        Map<String, Long> counts = new TreeMap<>();
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            while (row.next()) {
                counts.put(row.getString("why"), row.getLong("times"));
            }
        }
        return counts;
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
