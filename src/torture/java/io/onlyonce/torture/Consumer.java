package io.onlyonce.torture;

import io.onlyonce.inbox.Advance;
import io.onlyonce.inbox.Inbox;
import io.onlyonce.inbox.InboxAnswer;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.inbox.Incoming;
import io.onlyonce.inbox.MessageIdentityViolationException;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.TransactionOptions;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/** Reads what the broker has of a tenant, out of order and again and again, into a projection. */
final class Consumer {

    private final Client client;
    private final Plan plan;
    private final Inbox inbox;
    private Optional<Trouble> trouble = Optional.empty();

    Consumer(Client client, Plan plan) {
        this.client = client;
        this.plan = plan;
        inbox =
                client.once()
                        .inbox("projector")
                        .withTransaction(
                                TransactionOptions.readCommitted()
                                        .withCommitTimeout(Duration.ofMillis(500))
                                        .withDeadline(Duration.ofSeconds(3)));
    }

    /** A row of the broker. */
    private record Delivered(String eventId, String account, long version, byte[] payload) {

        InboxMessage message(String tenant) {
            return InboxMessage.of(tenant, "outbox", eventId, payload);
        }

        long delta() {
            return Long.parseLong(new String(payload, StandardCharsets.UTF_8).split(" ")[0]);
        }
    }

    /** Takes everything once, in any order, one by one or as a batch, and meets its fault. */
    void consume(String key, Plan.Call call) {
        client.history().write("consume", plan.tenant(), key);
        List<Delivered> delivered;
        try {
            delivered = new ArrayList<>(call.meets(Cell.Site.INBOX) ? awaited() : delivered());
        } catch (SQLException e) {
            return; // the broker is away
        }
        Collections.shuffle(delivered, new Random(plan.number()));
        if (call.meets(Cell.Site.INBOX)) {
            trouble = call.fault().map(cell -> new Trouble(client, plan.tenant(), cell));
            trouble.get().begin();
        }
        process(delivered, call.batch());
        trouble.ifPresent(Trouble::end);
        trouble = Optional.empty();
        if (call.batch() && !delivered.isEmpty()) {
            tamper(delivered.get(0));
        }
    }

    /** Everything until it is done with. */
    void drain(long end) {
        Set<String> done = new HashSet<>();
        for (int i = 0; i < 20 || System.nanoTime() - end < 0; i++) {
            try {
                List<Delivered> delivered = delivered();
                List<Delivered> left =
                        delivered.stream().filter(each -> !done.contains(each.eventId())).toList();
                if (left.isEmpty()) {
                    return;
                }
                done.addAll(process(left, plan.number() % 2 == 0));
            } catch (SQLException e) {
                LockSupport.parkNanos(20_000_000);
            }
        }
        client.history().write("undrained", plan.tenant());
    }

    /** Returns the ids that may be acknowledged. */
    private Set<String> process(List<Delivered> delivered, boolean batch) {
        Map<String, Delivered> byId = new HashMap<>();
        delivered.forEach(each -> byId.put(each.eventId(), each));
        List<InboxMessage> messages =
                delivered.stream().map(each -> each.message(plan.tenant())).toList();
        List<InboxAnswer> answers = new ArrayList<>();
        if (batch) {
            answers.addAll(
                    inbox.processAll(messages, in -> project(in, byId.get(in.message().id())))
                            .answers());
        } else {
            messages.forEach(message -> answers.add(one(message, byId.get(message.id()))));
        }
        Set<String> done = new HashSet<>();
        for (int i = 0; i < messages.size(); i++) {
            String id = messages.get(i).id();
            client.history().write("message", plan.tenant(), id, say(answers.get(i)));
            if (answers.get(i).isDone()) {
                done.add(id);
            }
        }
        return done;
    }

    private InboxAnswer one(InboxMessage message, Delivered delivered) {
        try {
            return inbox.process(message, in -> project(in, delivered));
        } catch (SQLException | RuntimeException e) {
            return new InboxAnswer.Failed(e);
        }
    }

    private static String say(InboxAnswer answer) {
        return answer instanceof InboxAnswer.Failed failed
                ? failed.cause() instanceof CommitOutcomeUnknownException
                        ? "Unknown"
                        : "Failed: " + failed.cause()
                : answer.getClass().getSimpleName();
    }

    private void project(Incoming incoming, Delivered delivered) throws SQLException {
        var connection = incoming.connection();
        Advance advance =
                client.once()
                        .versionGuard()
                        .advance(
                                connection,
                                "balances",
                                plan.tenant(),
                                "Account",
                                delivered.account(),
                                delivered.version());
        if (advance.kind()
                != Advance.Kind.STALE) { // the message of an applied version may have been purged
            Ledger.project(connection, plan.tenant(), delivered.account(), delivered.delta());
        }
        Ledger.seen(connection, plan.tenant(), delivered.eventId());
        if (trouble.isPresent()) {
            trouble.get().reached(Cell.Step.BEFORE_FINISH, connection);
        }
    }

    /** The id of a message that is known, with another payload, must be refused. */
    private void tamper(Delivered known) {
        InboxAnswer first = one(known.message(plan.tenant()), known);
        if (!first.isDone()) {
            return;
        }
        client.history().write("message", plan.tenant(), known.eventId(), say(first));
        var forged =
                InboxMessage.of(plan.tenant(), "outbox", known.eventId(), new byte[] {'0', ' '});
        String answer;
        try {
            answer = say(inbox.process(forged, in -> accept(known)));
        } catch (MessageIdentityViolationException e) {
            answer = "violation";
        } catch (SQLException | RuntimeException e) {
            answer = "Failed: " + e;
        }
        client.history().write("forged", plan.tenant(), known.eventId(), answer);
    }

    /** A purge may have taken the message since; then nobody can know that this one is forged. */
    private void accept(Delivered known) {
        client.history().write("accepted", plan.tenant(), known.eventId());
        throw new IllegalStateException("a forged message was accepted");
    }

    /** A fault needs something to strike. */
    private List<Delivered> awaited() throws SQLException {
        long end = System.nanoTime() + Duration.ofMillis(700).toNanos();
        List<Delivered> delivered = delivered();
        while (delivered.isEmpty() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(10_000_000);
            delivered = delivered();
        }
        return delivered;
    }

    private List<Delivered> delivered() throws SQLException {
        List<Delivered> delivered = new ArrayList<>();
        try (var connection = client.brokerConnection();
                var statement =
                        connection.prepareStatement(
                                "SELECT event_id, account, version, payload FROM broker WHERE"
                                        + " tenant = ? ORDER BY pos")) {
            statement.setString(1, plan.tenant());
            try (var row = statement.executeQuery()) {
                while (row.next()) {
                    delivered.add(
                            new Delivered(
                                    row.getString("event_id"),
                                    row.getString("account"),
                                    row.getLong("version"),
                                    row.getBytes("payload")));
                }
            }
        }
        return delivered;
    }
}
