import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.*;
import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.Race;
import io.onlyonce.inbox.*;
import io.onlyonce.outbox.*;
import io.onlyonce.payload.*;
import io.onlyonce.retention.*;
import java.sql.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;

public class README extends Harness {

    record Receipt(String account, long amount) {}

    record Request(String commandId, String account, long amount) {
        String id() {
            return commandId;
        }

        byte[] body() {
            return bytes("{\"account\": \"" + account + "\", \"amount\": " + amount + "}");
        }
    }

    static class Ledger {
        Receipt post(Connection connection, Request request) throws SQLException {
            update(connection, "INSERT INTO ledger (account, amount) VALUES (?, ?)", request.account(), request.amount());
            return new Receipt(request.account(), request.amount());
        }
    }

    private final Ledger ledger = new Ledger();
    private final Request request = new Request(CommandIds.next(), "A-1", 100);

    private long posted() throws SQLException {
        return db.count("SELECT count(*) FROM ledger");
    }

    private void tables() throws SQLException {
        db.execute("DROP TABLE IF EXISTS ledger; CREATE TABLE ledger (account text, amount bigint)");
    }

    /** Two retries that arrive together both post. */
    public void the_bug() throws Exception {
        tables();
        var both = new CyclicBarrier(2);
        Set<String> processed =
                new HashSet<>() {
                    @Override
                    public boolean contains(Object id) {
                        boolean known = super.contains(id);
                        try {
                            both.await(10, TimeUnit.SECONDS);
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                        return known;
                    }
                };
        Race.of(2, () -> naive(processed));
        assertThat(posted()).isEqualTo(2);
    }

    private Void naive(Set<String> processed) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            //> The bug
        }
        return null;
    }

    public void the_fix() throws Exception {
        tables();
        List<Outcome<Receipt>> outcomes = Race.of(8, this::deposit);
        assertThat(posted()).isEqualTo(1);
        assertThat(outcomes).extracting(Outcome::value).containsOnly(new Receipt("A-1", 100));
        assertThat(outcomes).filteredOn(o -> !o.replayed()).hasSize(1);
        assertThat(published()).extracting(OutboxEvent::type).containsExactly("Deposited");
    }

    private Outcome<Receipt> deposit() throws Exception {
        byte[] json = request.body();
        //> The fix
        return outcome;
    }

    static class Broker {
        final Queue<OutboxEvent> published = new ConcurrentLinkedQueue<>();
        int acknowledged;

        List<PublishResult> publishAll(List<OutboxEvent> events) {
            published.addAll(events);
            return events.stream().map(e -> PublishResult.published()).toList();
        }

        void acknowledge(InboxMessage message) {
            acknowledged++;
        }
    }

    static class Invoices {
        void add(Connection connection, InboxMessage message) throws SQLException {
            update(connection, "INSERT INTO ledger (account, amount) VALUES (?, 1)", message.id());
        }
    }

    public void events_and_messages() throws Exception {
        tables();
        var broker = new Broker();
        var invoices = new Invoices();
        once.transactions().execute(
                c -> once.outbox().append(c, "acme", OutboxEvent.of("k-1", "Account", "A-1", "Deposited", bytes("{}"))));
        receive(broker, invoices, "m-1", bytes("{}"));
        receive(broker, invoices, "m-1", bytes("{}"));
        assertThat(broker.acknowledged).isEqualTo(2);
        assertThat(posted()).isEqualTo(1);
    }

    private void receive(Broker broker, Invoices invoices, String eventId, byte[] payload) throws Exception {
        //> The fix (2)
        Await.until(Duration.ofSeconds(10), () -> broker.published.size() == 1, "the event is published");
        relay.close();
    }

    public void old_rows_go() throws Exception {
        //> The fix (3)
        retention.close();
    }
}
