package io.onlyonce.inbox;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.Markers;
import io.onlyonce.inbox.StormBroker.Delivery;
import io.onlyonce.outbox.OutboxEvent;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

/** Two consumers in a JVM of their own; one message in fifty fails at first. */
final class StormConsumers {

    static final int CONSUMERS = 2;

    /** Where the first of them stands, if it is told to, when its answers are durable. */
    static final String COMMITTED = "committed, not acknowledged";

    private StormConsumers() {}

    /** Arguments: URL, user, password, name, seed, after how many rounds to stand; 0 for never. */
    public static void main(String[] args) throws Exception {
        DataSource database = DataSources.unpooled(args[0], args[1], args[2]);
        var config = new HikariConfig();
        config.setDataSource(database);
        config.setMaximumPoolSize(CONSUMERS);
        OnlyOnce once = OnlyOnce.on(new HikariDataSource(config)).withoutExpiry().build();
        Map<Integer, Integer> tries = new ConcurrentHashMap<>();
        for (int i = 0; i < CONSUMERS; i++) {
            var broker = new StormBroker(database.getConnection());
            var consumer = new Consumer(once, broker, args[3] + "/" + i, tries);
            var random = new Random(Long.parseLong(args[4]) * CONSUMERS + i);
            int rounds = i == 0 ? Integer.parseInt(args[5]) : 0;
            new Thread(() -> consumer.run(random, rounds), "consumer-" + i).start();
        }
    }

    private record Consumer(
            OnlyOnce once, StormBroker broker, String name, Map<Integer, Integer> tries) {

        void run(Random random, int rounds) {
            Inbox inbox = once.inbox("storm");
            try {
                for (int round = 1; true; round++) {
                    boolean single = random.nextInt(3) > 0;
                    List<Delivery> taken = broker.take(single ? 1 : 1 + random.nextInt(250));
                    List<InboxAnswer> answers =
                            single
                                    ? taken.stream().map(one -> alone(inbox, one)).toList()
                                    : together(inbox, taken);
                    if (round >= rounds && rounds > 0 && hasProcessed(answers)) {
                        Checkpoint.reached(COMMITTED);
                    }
                    broker.settle(taken, answers);
                }
            } catch (SQLException | InterruptedException e) {
                e.printStackTrace();
            }
        }

        private static boolean hasProcessed(List<InboxAnswer> answers) {
            return answers.stream().anyMatch(a -> a instanceof InboxAnswer.Processed);
        }

        private InboxAnswer alone(Inbox inbox, Delivery delivery) {
            try {
                return inbox.process(delivery.toMessage(), this::work);
            } catch (MessageIdentityViolationException e) {
                return new InboxAnswer.IdentityViolation();
            } catch (Exception e) {
                return new InboxAnswer.Failed(e);
            }
        }

        private List<InboxAnswer> together(Inbox inbox, List<Delivery> taken) {
            return inbox.processAll(taken.stream().map(Delivery::toMessage).toList(), this::work)
                    .answers();
        }

        private void work(Incoming incoming) throws SQLException {
            InboxMessage message = incoming.message();
            int source = Integer.parseInt(message.source().substring("source-".length()));
            int number =
                    Integer.parseInt(message.id().substring(Markers.MARK.length())) * 3 + source;
            try (var insert =
                    incoming.connection().prepareStatement("INSERT INTO effect VALUES (?, ?, ?)")) {
                insert.setInt(1, number);
                insert.setString(2, new String(message.payload()));
                insert.setString(3, name);
                insert.executeUpdate();
            }
            String key = number + " by " + name; // two runs would be two events
            incoming.outbox()
                    .append(
                            OutboxEvent.of(
                                    key,
                                    "Message",
                                    "" + number,
                                    "Processed",
                                    Markers.MARK.getBytes()));
            if (number % 50 == 0 && tries.merge(number, 1, Integer::sum) <= 2) {
                throw new IllegalStateException("with others and alone, it has to come again");
            }
        }
    }
}
