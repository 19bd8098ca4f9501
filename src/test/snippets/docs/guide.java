package docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.ground.Race;
import io.onlyonce.inbox.*;
import io.onlyonce.outbox.*;
import io.onlyonce.payload.*;
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

public class guide extends Harness {

    // Five steps

    record Transfer(String id, String from, String to, long amount) {
        byte[] json() {
            return bytes("{}");
        }
    }

    record Receipt(String id, long balance) {}

    static class Broker {
        final Queue<String> sent = new ConcurrentLinkedQueue<>();

        void send(String type, String id) {
            sent.add(id);
        }
    }

    private final Broker broker = new Broker();
    private CyclicBarrier together;

    private void move(Connection connection, Transfer t) throws SQLException {
        if (together != null) {
            try {
                together.await(10, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        update(connection, "UPDATE account SET balance = balance - ? WHERE id = ?", t.amount(), t.from());
        update(connection, "UPDATE account SET balance = balance + ? WHERE id = ?", t.amount(), t.to());
    }

    //> Step 1: name the intent

    class Textbook {
        //> The textbook
    }

    class Step2 {
        //> Step 2: let the database decide before the work
    }

    class Step3 {
        //> Step 3: a no is an answer too
    }

    class Step4 {
        //> Step 4: events commit with the data
    }

    //> Step 5: receivers remember too

    private void begin() throws Exception {
        tables("docs/guide.md");
        db.execute("INSERT INTO account VALUES ('A', 100), ('B', 0)");
        db.execute("INSERT INTO seat VALUES ('1', 'HELD', 'saga-1'), ('2', 'HELD', 'saga-2')");
    }

    private long balance(String account) throws SQLException {
        return db.count("SELECT balance FROM account WHERE id = '" + account + "'");
    }

    public void textbook_moves_twice_and_answers_with_the_wrong_balance() throws Exception {
        begin();
        together = new CyclicBarrier(2);
        Race.of(2, () -> new Textbook().transfer(new Transfer("t-1", "A", "B", 30)));
        assertThat(balance("A")).isEqualTo(40);
        together = null;
        db.execute("UPDATE account SET balance = 7 WHERE id = 'A'");
        assertThat(new Textbook().transfer(new Transfer("t-1", "A", "B", 1000)).balance()).isEqualTo(7);
    }

    public void step_2_moves_once() throws Exception {
        begin();
        var t = new Transfer("t-2", "A", "B", 30);
        List<Outcome<Receipt>> outcomes = Race.of(4, () -> new Step2().transfer(t));
        db.execute("UPDATE account SET balance = balance + 1");
        outcomes = new ArrayList<>(outcomes);
        outcomes.add(new Step2().transfer(t));
        assertThat(outcomes).extracting(Outcome::value).containsOnly(new Receipt("t-2", 70));
        assertThat(outcomes).filteredOn(o -> !o.replayed()).hasSize(1);
        assertThat(balance("A")).isEqualTo(71);
        assertThatThrownBy(() -> new Step2().transfer(new Transfer("t-2", "A", "B", 31)))
                .isInstanceOf(PayloadMismatchException.class);
    }

    public void step_3_says_no_for_good() throws Exception {
        begin();
        var t = new Transfer("t-3", "A", "B", 130);
        refused("NOT_COVERED", false, () -> new Step3().transfer(t));
        db.execute("UPDATE account SET balance = 1000 WHERE id = 'A'");
        refused("NOT_COVERED", true, () -> new Step3().transfer(t));
        new Step3().transfer(new Transfer("t-3-new", "A", "B", 130));
        assertThat(balance("A")).isEqualTo(870);
    }

    public void step_4_and_5_tell_it_once() throws Exception {
        begin();
        for (int i = 0; i < 2; i++) {
            new Step4().transfer(new Transfer("t-4", "A", "B", 30));
        }
        List<OutboxEvent> events = published();
        assertThat(events).hasSize(1);
        String id = events.get(0).delivery().id().toString();
        assertThat(received(id, events.get(0).payload())).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(received(id, events.get(0).payload())).isInstanceOf(InboxAnswer.Duplicate.class);
        assertThat(db.count("SELECT count(*) FROM audit")).isEqualTo(1);
    }

    // Patterns

    private static Command command(String id) {
        return Command.of(new CommandScope("acme", "web", "guide"), id, PayloadHash.ofFields(Map.of("id", id)));
    }

    private static void refused(String code, boolean replayed, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        CommandRejectedException.class,
                        no -> {
                            assertThat(no.code()).isEqualTo(code);
                            assertThat(no.replayed()).isEqualTo(replayed);
                        });
    }

    private String order(String number) throws SQLException {
        return db.value("SELECT status FROM orders WHERE number = '" + number + "'", String.class).orElse("");
    }

    //> Natural idempotency

    public void natural() throws Exception {
        begin();
        db.execute("INSERT INTO orders (number, status) VALUES ('N', 'OPEN')");
        cancel(command("n-1"), "N", "late");
        assertThat(cancel(command("n-1"), "N", "late").replayed()).isTrue();
        assertThat(cancel(command("n-2"), "N", "late").replayed()).isFalse();
        refused("NOT_OPEN", false, () -> cancel(command("n-3"), "N", "broken"));
        assertThat(db.value("SELECT reason FROM orders", String.class)).contains("late");
    }

    //> A business unique constraint

    public void business_key() throws Exception {
        begin();
        long id = place(command("u-1"), "U").value();
        assertThat(place(command("u-1"), "U")).isEqualTo(new Outcome<>(id, true));
        refused("NUMBER_TAKEN", false, () -> place(command("u-2"), "U"));
    }

    //> Update

    public void versions() throws Exception {
        begin();
        db.execute("INSERT INTO orders (number, status) VALUES ('V', 'OPEN')");
        rename(command("v-1"), "V", "W", 1);
        rename(command("v-2"), "W", "X", 2);
        assertThat(rename(command("v-1"), "V", "W", 1)).isEqualTo(new Outcome<>(2L, true));
        refused("CHANGED_MEANWHILE", false, () -> rename(command("v-3"), "X", "Y", 2));
    }

    //> Delete

    public void deletes() throws Exception {
        begin();
        db.execute("INSERT INTO orders (number, status) VALUES ('D', 'OPEN')");
        remove(command("d-1"), "D");
        assertThat(remove(command("d-1"), "D").value()).isEqualTo("REMOVED");
        refused("NOT_FOUND", false, () -> remove(command("d-2"), "D"));
        assertThat(published()).hasSize(1);
    }

    //> Batch

    public void batch() throws Exception {
        begin();
        expire("1");
        assertThat(expire("1").replayed()).isTrue();
        db.execute("UPDATE seat SET status = 'SOLD' WHERE id = '2'");
        refused("NOT_HELD", false, () -> expire("2"));
        assertThat(published()).extracting(OutboxEvent::key).containsExactly("seat-expired:1");
    }

    class Plain {
        //> State transitions
    }

    class Audited {
        //> Audit, also of what was refused
    }

    public void transitions() throws Exception {
        begin();
        db.execute("INSERT INTO orders (number, status) VALUES ('S', 'PAID')");
        var plain = new Plain();
        plain.ship(command("s-1"), "S");
        assertThat(plain.ship(command("s-1"), "S").replayed()).isTrue();
        refused("NOT_PAID", false, () -> plain.ship(command("s-2"), "S"));
    }

    public void audit() throws Exception {
        begin();
        db.execute("INSERT INTO orders (number, status) VALUES ('S', 'PAID')");
        var audited = new Audited();
        for (int i = 0; i < 2; i++) {
            boolean again = i > 0;
            audited.ship(command("a-1"), "S");
            refused("NOT_PAID", again, () -> audited.ship(command("a-2"), "S"));
        }
        assertThat(db.value("SELECT string_agg(command_id || ' ' || action, ', ' ORDER BY 1) FROM audit", String.class))
                .contains("a-1 SHIP, a-2 SHIP_NOT_PAID");
    }

    //> Semantic keys

    public void semantic() throws Exception {
        once.commands().run(reminder("4711", 1), String.class, work -> "sent");
        assertThat(once.commands().run(reminder("4711", 1), String.class, work -> "sent").replayed()).isTrue();
        assertThat(once.commands().run(reminder("4711", 2), String.class, work -> "sent").replayed()).isFalse();
    }

    //> Why upsert hides conflicts

    public void upsert_opens_what_was_shipped() throws Exception {
        begin();
        db.execute("INSERT INTO orders (number, status) VALUES ('P', 'SHIPPED')");
        try (Connection connection = dataSource.getConnection()) {
            upsert(connection, "P");
        }
        assertThat(order("P")).isEqualTo("OPEN");
    }

    //> Commutative operations

    public void commutative() throws Exception {
        begin();
        db.execute("INSERT INTO device VALUES ('d', 0)");
        try (Connection connection = dataSource.getConnection()) {
            for (long at : new long[] {5, 9, 5, 9, 7}) {
                seen(connection, "d", at);
            }
        }
        assertThat(db.count("SELECT last_seen FROM device")).isEqualTo(9);
    }

    //> Ledger

    public void ledger() throws Exception {
        begin();
        Race.of(4, () -> book(command("l-1"), "A", "B", 60));
        refused("NOT_COVERED", false, () -> book(command("l-2"), "A", "B", 60));
        refused("NOT_COVERED", true, () -> book(command("l-2"), "A", "B", 60));
        assertThat(balance("A")).isEqualTo(40);
        assertThat(db.count("SELECT count(*) FROM entry")).isEqualTo(2);
        assertThat(db.count("SELECT sum(amount) FROM entry")).isZero();
    }

    //> Projections

    private InboxAnswer project(String message, long version, String status) throws SQLException {
        return project(InboxMessage.of("acme", "orders", message, bytes(status)), "O", version, status);
    }

    public void projections() throws Exception {
        begin();
        assertThat(project("m-1", 1, "OPEN")).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(project("m-3", 3, "SHIPPED")).isEqualTo(new InboxAnswer.Deferred(2));
        assertThat(project("m-2", 2, "PAID")).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(project("m-3", 3, "SHIPPED")).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(project("m-3", 3, "SHIPPED")).isInstanceOf(InboxAnswer.Duplicate.class);
        assertThat(project("m-1-again", 1, "OPEN")).isInstanceOf(InboxAnswer.Processed.class);
        assertThat(db.value("SELECT status FROM order_list", String.class)).contains("SHIPPED");
    }

    //> Sagas and compensation

    public void sagas() throws Exception {
        begin();
        var scope = new CommandScope("acme", "trips", "seat.release");
        release(scope, "saga-1", "1");
        db.execute("UPDATE seat SET status = 'HELD', holder = 'next' WHERE id = '1'");
        assertThat(release(scope, "saga-1", "1").replayed()).isTrue();
        assertThat(db.value("SELECT status FROM seat WHERE id = '1'", String.class)).contains("HELD");
        refused("NOT_HELD", false, () -> release(scope, "saga-9", "2"));
        db.execute("UPDATE seat SET status = 'SOLD' WHERE id = '2'");
        refused("NOT_HELD", false, () -> release(scope, "saga-2", "2"));
    }

    static class Provider {
        final Set<String> charged = new HashSet<>();
        int calls;

        boolean charge(String key, byte[] payload) {
            calls++;
            if (charged.add(key)) {
                throw new IllegalStateException("charged, and the answer was lost");
            }
            return true;
        }
    }

    private final Provider provider = new Provider();

    //> An external API with a stable key

    public void external() throws Exception {
        once.transactions().execute(
                c -> once.outbox().append(c, "acme", OutboxEvent.of("charge-1", "Order", "1", "Charge", bytes("{}"))));
        try (var relay = charging()) {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (relay.stats().published() == 0 && System.nanoTime() < end) {
                relay.runOnce();
            }
        }
        assertThat(provider.calls).isEqualTo(2);
        assertThat(provider.charged).hasSize(1);
    }
}
