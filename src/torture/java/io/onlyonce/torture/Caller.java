package io.onlyonce.torture;

import io.onlyonce.command.Claim;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandExpiredException;
import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.CommandOutcomeUnknownException;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.Outcome;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.command.Rejection;
import io.onlyonce.command.RunOptions;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** One call of a command, written down before and after. */
final class Caller {

    private static final Duration DEADLINE = Duration.ofSeconds(3);
    private static final Duration SHORT_DEADLINE = Duration.ofMillis(700);
    private static final Duration COMMIT_TIMEOUT = Duration.ofMillis(500);

    private final Client client;
    private final Plan plan;
    private final Plan.Call call;
    private final Optional<Trouble> trouble;
    private int attempts;

    Caller(Client client, Plan plan, Plan.Call call) {
        this.client = client;
        this.plan = plan;
        this.call = call;
        trouble =
                call.meets(Cell.Site.COMMAND)
                        ? call.fault().map(cell -> new Trouble(client, plan.tenant(), cell))
                        : Optional.empty();
    }

    /** What a call came to. */
    record Answer(String type, String value, boolean replayed) {

        boolean isFinal() {
            return type.equals("completed") || type.equals("rejected");
        }
    }

    void run() {
        note(
                "call",
                call.transfer().id(),
                call.spelling(),
                isMisuse() ? "misuse" : call.lowRoad() ? "low" : "high",
                call.transfer().life());
        trouble.ifPresent(Trouble::begin);
        Answer answer = ask();
        trouble.ifPresent(Trouble::end);
        note("answer", answer.type(), answer.value(), answer.replayed());
    }

    private boolean isMisuse() {
        return call.fault().filter(Cell::isMisuse).isPresent();
    }

    void note(String what, Object... rest) {
        Object[] all = new Object[rest.length + 1];
        all[0] = call.key();
        System.arraycopy(rest, 0, all, 1, rest.length);
        client.history().write(what, plan.tenant(), all);
    }

    Answer ask() {
        try {
            return call.lowRoad() ? lowRoad() : highRoad();
        } catch (CommandRejectedException e) {
            return new Answer("rejected", e.code() + ":" + e.detail(), e.replayed());
        } catch (CommandInFlightException e) {
            return new Answer("in flight", "", false);
        } catch (PayloadMismatchException e) {
            return new Answer("mismatch", "", false);
        } catch (CommandExpiredException e) {
            return new Answer("expired", "", false);
        } catch (CommandOutcomeUnknownException e) {
            return new Answer("unresolved", "", false);
        } catch (CommitOutcomeUnknownException e) {
            return new Answer("unknown", "", false);
        } catch (SQLException e) {
            return new Answer("failed", e.getSQLState() + " " + e.getMessage(), false);
        } catch (RuntimeException e) {
            return new Answer("failed", e.toString(), false);
        }
    }

    Command command() {
        var scope = new CommandScope(plan.tenant(), "torture", "transfer");
        var hash = PayloadHash.ofJson(call.transfer().payload(call.spelling()));
        var command = call.transfer().life().of(Command.of(scope, call.transfer().id(), hash));
        return call.likelyRetry() ? command.likelyRetry() : command;
    }

    private TransactionOptions transaction() {
        boolean isSilent =
                call.fault()
                        .filter(cell -> cell.kind() == Cell.Kind.SILENCE)
                        .filter(cell -> cell.step().compareTo(Cell.Step.COMMIT_REQUEST) < 0)
                        .isPresent();
        return TransactionOptions.readCommitted()
                .withIsolation(call.isolation())
                .withCommitTimeout(COMMIT_TIMEOUT)
                .withDeadline(isSilent ? SHORT_DEADLINE : DEADLINE);
    }

    private Answer highRoad() throws SQLException {
        InFlightPolicy policy =
                switch (call.policy()) {
                    case FAIL_FAST -> InFlightPolicy.failFast();
                    case WAIT -> InFlightPolicy.waitUpTo(Duration.ofMillis(300));
                    case BLOCK -> InFlightPolicy.blockUpTo(Duration.ofMillis(150));
                };
        RunOptions options =
                RunOptions.standard()
                        .withTransaction(transaction())
                        .withInFlight(policy)
                        .withOnRejected(
                                (connection, outbox, no) ->
                                        Ledger.refused(
                                                connection,
                                                plan.tenant(),
                                                call.transfer().id(),
                                                no.detail()));
        Outcome<String> outcome =
                client.once()
                        .commands()
                        .run(
                                command(),
                                String.class,
                                options,
                                work -> {
                                    String attempt = begin(work.connection());
                                    work(work.connection(), attempt).forEach(work.outbox()::append);
                                    return attempt;
                                });
        return new Answer("completed", outcome.value(), outcome.replayed());
    }

    /** The misuses are on this road: completing a claim that is no longer held. */
    private Answer lowRoad() throws SQLException {
        if (call.meets(Cell.Kind.STALE_CLAIM)) {
            Claim[] kept = new Claim[1];
            try {
                client.once()
                        .transactions()
                        .execute(
                                transaction(),
                                connection -> {
                                    kept[0] = client.once().dedup().tryStart(connection, command());
                                    throw new IllegalStateException("rolled back on purpose");
                                });
            } catch (IllegalStateException e) {
                // now the claim is stale
            }
            misuse(kept[0]);
            return client.once()
                    .transactions()
                    .execute(transaction(), connection -> onClaim(connection, kept[0]));
        }
        return client.once()
                .transactions()
                .execute(
                        transaction(),
                        connection -> {
                            var before = connection.setSavepoint();
                            Claim claim = client.once().dedup().tryStart(connection, command());
                            if (call.meets(Cell.Kind.UNDONE_CLAIM)) {
                                connection.rollback(before);
                                misuse(claim);
                            }
                            return onClaim(connection, claim);
                        });
    }

    /** The claim is lost now; half of the time somebody else has done the command meanwhile. */
    private void misuse(Claim claim) {
        if (claim instanceof Claim.Started) {
            client.fault(plan.tenant(), call.fault().orElseThrow());
            if (call.batch()) {
                var other =
                        new Plan.Call(
                                call.key() + "-other",
                                call.transfer(),
                                call.spelling(),
                                false,
                                Isolation.READ_COMMITTED,
                                Plan.Policy.FAIL_FAST,
                                false,
                                false,
                                Optional.empty());
                new Caller(client, plan, other).run();
            }
        }
    }

    private Answer onClaim(Connection connection, Claim claim) throws SQLException {
        if (claim instanceof Claim.Started started) {
            String attempt = begin(connection);
            var undo = connection.setSavepoint();
            try {
                List<OutboxEvent> events = work(connection, attempt);
                if (!isMisuse()) { // their keys would refuse what the finish has to refuse
                    client.once().outbox().append(connection, plan.tenant(), events);
                }
                client.once().dedup().complete(connection, started, attempt);
                return new Answer("completed", attempt, false);
            } catch (CommandRejectedException no) {
                connection.rollback(undo);
                Ledger.refused(connection, plan.tenant(), call.transfer().id(), no.detail());
                client.once()
                        .dedup()
                        .reject(connection, started, new Rejection(no.code(), no.detail()));
                return new Answer("rejected", no.code() + ":" + no.detail(), false);
            }
        }
        if (claim instanceof Claim.Replayed replayed) {
            return new Answer("completed", replayed.value(String.class), true);
        }
        if (claim instanceof Claim.Rejected no) {
            return new Answer(
                    "rejected", no.rejection().code() + ":" + no.rejection().detail(), true);
        }
        if (claim instanceof Claim.PayloadMismatch) {
            return new Answer("mismatch", "", false);
        }
        if (claim instanceof Claim.Expired) {
            return new Answer("expired", "", false);
        }
        return new Answer(claim instanceof Claim.InFlight ? "in flight" : "unresolved", "", false);
    }

    private String begin(Connection connection) throws SQLException {
        String attempt =
                call.key() + "#" + call.spelling() + "#" + System.nanoTime() + "-" + ++attempts;
        note("work", call.transfer().id(), attempt);
        if (trouble.isPresent()) {
            trouble.get().reached(Cell.Step.AFTER_CLAIM, connection);
        }
        if (!isMisuse()) {
            beAlone(connection);
        }
        return attempt;
    }

    private List<OutboxEvent> work(Connection connection, String attempt) throws SQLException {
        int amount = call.transfer().amount(call.spelling());
        List<OutboxEvent> events;
        try {
            events = Ledger.move(connection, plan.tenant(), call.transfer(), amount, attempt);
        } catch (CommandRejectedException no) {
            note("no", call.transfer().id(), attempt);
            throw no;
        }
        if (trouble.isPresent()) {
            trouble.get().reached(Cell.Step.BEFORE_FINISH, connection);
        }
        return events;
    }

    /**
     * The server itself says whether another living transaction is at this work. A transaction's
     * locks go one after the other when it ends, so a moment's grace is given.
     */
    private void beAlone(Connection connection) throws SQLException {
        long end = System.nanoTime() + Duration.ofMillis(400).toNanos();
        while (!isAlone(connection)) {
            if (System.nanoTime() - end > 0) {
                note("overlap", call.transfer().id());
                return;
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    private boolean isAlone(Connection connection) throws SQLException {
        try (var statement =
                connection.prepareStatement(
                        Ledger.MARK
                                + "SELECT pg_try_advisory_xact_lock(hashtext(?), hashtext(?))")) {
            statement.setString(1, plan.tenant());
            statement.setString(2, call.transfer().id());
            try (var row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
