package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Claim;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.Resolution;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.inbox.InboxClaim;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.observe.Inspector.CallerCount;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.PublishResult;
import io.onlyonce.outbox.RelayOptions;
import io.onlyonce.payload.PayloadHash;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What the answers for operators say on every database. */
abstract class InspectorContract extends DatabaseContract {

    private static final CommandScope SCOPE = new CommandScope("acme", "teller", "pay");

    protected OnlyOnce once;
    protected Inspector inspector;

    InspectorContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void create() throws Exception {
        Schema.apply(db.dataSource());
        once = OnlyOnce.on(db.pool(6)).withTtl(Duration.ofDays(7)).build();
        inspector = once.inspector();
    }

    @BeforeEach
    void empty() throws Exception {
        for (String table :
                List.of("command_dedup", "inbox_message", "outbox_event", "outbox_blocked")) {
            db.execute("DELETE FROM onlyonce." + table);
        }
    }

    protected static Command command(String caller, String id) {
        return Command.of(new CommandScope("acme", caller, "pay"), id, PayloadHash.ofJson("{}"));
    }

    private void run(String caller, String id) throws SQLException {
        once.commands().run(command(caller, id), String.class, work -> "x");
    }

    @Test
    void nothing_is_nothing() throws Exception {
        try (Connection connection = db.connect()) {
            assertThat(inspector.unresolvedCommands(connection, 10)).isEmpty();
            assertThat(inspector.unfinishedMessages(connection, 10)).isEmpty();
            assertThat(inspector.blocked(connection, 10)).isEmpty();
            assertThat(inspector.newIds(connection, Duration.ofDays(1), 10)).isEmpty();
            for (var overview :
                    List.of(
                            inspector.unresolved(connection),
                            inspector.overdue(connection),
                            inspector.backlog(connection),
                            inspector.deadLetters(connection))) {
                assertThat(overview.rows()).isZero();
                assertThat(overview.since()).isEmpty();
            }
        }
    }

    @Test
    void commands_without_a_completion_are_listed_until_they_are_resolved() throws Exception {
        run("teller", "done");
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            Command command = command("teller", "left").about("Account", "a-17");
            assertThat(once.dedup().tryStart(connection, command))
                    .isInstanceOf(Claim.Started.class);
            connection.commit();
        }
        try (Connection connection = db.connect()) {
            var listed = inspector.unresolvedCommands(connection, 10);
            assertThat(listed).hasSize(1);
            assertThat(listed.get(0).scope()).isEqualTo(SCOPE);
            assertThat(listed.get(0).id()).isEqualTo("left");
            assertThat(listed.get(0).resourceType()).contains("Account");
            assertThat(listed.get(0).resourceId()).contains("a-17");
            assertThat(inspector.unresolved(connection).rows()).isEqualTo(1);
            assertThat(inspector.unresolved(connection).since())
                    .contains(listed.get(0).startedAt());

            connection.setAutoCommit(false);
            once.dedup()
                    .resolve(
                            connection,
                            SCOPE,
                            "left",
                            Resolution.completedWithoutResult(),
                            "ann",
                            "seen in the ledger");
            connection.commit();
            assertThat(inspector.unresolvedCommands(connection, 10)).isEmpty();
            connection.rollback();
        }
    }

    @Test
    void what_may_be_forgotten_is_counted() throws Exception {
        run("teller", "fresh");
        run("teller", "old");
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - INTERVAL '15' DAY,"
                        + " expires_at = expires_at - INTERVAL '15' DAY, forget_at = forget_at -"
                        + " INTERVAL '15' DAY WHERE command_id = 'old'");
        try (Connection connection = db.connect()) {
            assertThat(inspector.overdue(connection).rows()).isEqualTo(1);
            assertThat(inspector.overdue(connection).since()).isPresent();
        }
    }

    @Test
    void messages_without_a_completion_are_listed() throws Exception {
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            var message = InboxMessage.of("acme", "orders", "m-1", new byte[] {1});
            assertThat(once.inbox("billing").tryStart(connection, message))
                    .isInstanceOf(InboxClaim.Started.class);
            connection.commit();
            var listed = inspector.unfinishedMessages(connection, 10);
            assertThat(listed).hasSize(1);
            assertThat(listed.get(0).consumer()).isEqualTo("billing");
            assertThat(listed.get(0).source()).isEqualTo("orders");
            assertThat(listed.get(0).id()).isEqualTo("m-1");
            connection.rollback();
        }
    }

    @Test
    void new_ids_are_counted_by_caller_the_busiest_first() throws Exception {
        run("quiet", "a");
        run("busy", "a");
        run("busy", "b");
        run("gone", "a");
        db.execute(
                "UPDATE onlyonce.command_dedup SET started_at = started_at - INTERVAL '2' HOUR"
                        + " WHERE caller = 'gone'");
        try (Connection connection = db.connect()) {
            assertThat(inspector.newIds(connection, Duration.ofHours(1), 10))
                    .containsExactly(
                            new CallerCount("acme", "busy", 2),
                            new CallerCount("acme", "quiet", 1));
            assertThat(inspector.newIds(connection, Duration.ofHours(3), 10)).hasSize(3);
            assertThat(inspector.newIds(connection, Duration.ofHours(3), 1)).hasSize(1);
        }
    }

    @Test
    void the_outbox_tells_what_is_ready_what_is_dead_and_who_waits() throws Exception {
        append("first", "a-1");
        append("second", "a-1");
        append("third", "a-1");
        try (Connection connection = db.connect()) {
            assertThat(inspector.backlog(connection).rows()).isEqualTo(3);
            assertThat(inspector.backlog(connection).since()).isPresent();
        }
        var options =
                RelayOptions.standard().withAttempts(1, Duration.ofMillis(1), Duration.ofMillis(1));
        try (OutboxRelay relay =
                once.relay(
                        events ->
                                events.stream()
                                        .map(
                                                event ->
                                                        event.key().equals("first")
                                                                ? PublishResult.failed("no")
                                                                : PublishResult.notTried())
                                        .toList(),
                        options)) {
            Await.until(
                    Duration.ofSeconds(30),
                    () -> relay.runOnce() == 0 && relay.stats().dead() == 1 && ready() == 0,
                    "the first is dead and the others wait");
        }
        try (Connection connection = db.connect()) {
            assertThat(inspector.backlog(connection).rows()).isZero();
            assertThat(inspector.deadLetters(connection).rows()).isEqualTo(1);
            assertThat(inspector.deadLetters(connection).since()).isPresent();
            var blocked = inspector.blocked(connection, 10);
            assertThat(blocked).hasSize(1);
            assertThat(blocked.get(0).id()).isEqualTo("a-1");
            assertThat(blocked.get(0).until()).isEmpty();
            assertThat(blocked.get(0).waiting()).isEqualTo(2);
        }
    }

    private long ready() throws SQLException {
        try (Connection connection = db.connect()) {
            return inspector.backlog(connection).rows();
        }
    }

    private void append(String key, String aggregate) throws SQLException {
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            once.outbox()
                    .append(
                            connection,
                            "acme",
                            OutboxEvent.of(key, "Account", aggregate, "Paid", new byte[] {1}));
            connection.commit();
        }
    }

    @Test
    void every_table_has_a_size() throws Exception {
        try (Connection connection = db.connect()) {
            assertThat(inspector.sizes(connection))
                    .extracting(Inspector.TableSize::table)
                    .contains("command_dedup", "outbox_event", "inbox_message");
        }
    }

    @Test
    void senseless_questions_are_refused() throws Exception {
        try (Connection connection = db.connect()) {
            assertThatThrownBy(() -> inspector.unresolvedCommands(connection, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> inspector.newIds(connection, Duration.ZERO, 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
