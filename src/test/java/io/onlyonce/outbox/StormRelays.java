package io.onlyonce.outbox;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.DataSources;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.postgresql.PGConnection;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import javax.sql.DataSource;

/** Two relays in a JVM of their own; one mark in twenty finds its backend terminated. */
final class StormRelays {

    /** What the relays' own backends are called. */
    static final String APPLICATION = "storm relay";

    static final String STOP = "until told to stop";

    static final Duration LEASE = Duration.ofSeconds(2);

    private StormRelays() {}

    /** Arguments: URL, user, password, name, seed. */
    public static void main(String[] args) throws Exception {
        List<OutboxRelay> relays = new ArrayList<>();
        List<StormPublisher> publishers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            String name = args[3] + "/" + i;
            long seed = Long.parseLong(args[4]) * 2 + i;
            Connection broker = DataSources.unpooled(args[0], args[1], args[2]).getConnection();
            var publisher = new StormPublisher(broker, name, seed);
            var source = new LosingMarks(args, publisher, new Random(seed));
            OutboxRelay relay = on(source).relay(publisher, options());
            publisher.follow(relay::stats);
            publishers.add(publisher);
            relays.add(relay);
            relay.start();
        }
        Checkpoint.reached(STOP);
        for (OutboxRelay relay : relays) {
            relay.stop(Duration.ofSeconds(10));
            System.out.println("stats " + relay.stats());
        }
        for (StormPublisher publisher : publishers) {
            publisher.tellFate();
        }
        System.out.println("stopped");
    }

    /** Again and again: the storm strikes here too. */
    private static OnlyOnce on(DataSource source) {
        while (true) {
            try {
                return OnlyOnce.on(source).withoutExpiry().build();
            } catch (SQLException | CommitOutcomeUnknownException e) {
                System.out.println("struck while starting: " + e);
            }
        }
    }

    private static RelayOptions options() {
        return RelayOptions.standard()
                .withLease(LEASE, LEASE.dividedBy(2))
                .withPoll(Duration.ofMillis(20))
                .withBatch(200)
                .withAttempts(1000, Duration.ofMillis(1), Duration.ofMillis(50));
    }

    private static final class LosingMarks extends HikariDataSource {

        private final StormPublisher publisher;
        private final Random random;
        private final Connection operator;

        LosingMarks(String[] args, StormPublisher publisher, Random random) throws SQLException {
            super(config(args));
            this.publisher = publisher;
            this.random = random;
            operator = DataSources.unpooled(args[0], args[1], args[2]).getConnection();
        }

        private static HikariConfig config(String[] args) {
            var config = new HikariConfig();
            config.setDataSource(
                    DataSources.unpooled(
                            args[0]
                                    + (args[0].contains("?") ? "&" : "?")
                                    + "ApplicationName="
                                    + APPLICATION.replace(' ', '+'),
                            args[1],
                            args[2]));
            config.setMaximumPoolSize(2);
            return config;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection connection = super.getConnection();
            if (publisher.isAboutToMark() && random.nextInt(20) == 0) {
                int pid = connection.unwrap(PGConnection.class).getBackendPID();
                try (var statement = operator.createStatement()) {
                    statement.execute(
                            "INSERT INTO mishap SELECT 'backend terminated before a mark' WHERE"
                                    + " pg_terminate_backend("
                                    + pid
                                    + ")");
                }
            }
            return connection;
        }
    }
}
