package io.onlyonce.torture;

import io.onlyonce.command.NothingToResolveException;
import io.onlyonce.command.Resolution;
import io.onlyonce.tx.Isolation;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** The end of a history, when faults have stopped. */
final class Settling {

    /** After the last fault nothing may be in flight, or unknown, for longer than this. */
    static final Duration WITHIN = Duration.ofSeconds(30);

    private Settling() {}

    /**
     * Asks until there is an end, as a caller does that wants to know; one of the two who ask goes
     * on when the id has expired, until it is new again.
     */
    static void settle(
            Client client, Plan plan, Plan.Transfer transfer, boolean isPatient, long end) {
        Plan.Spelling spelling = Plan.Spelling.OTHER_SPELLING;
        Caller.Answer answer = new Caller.Answer("none", "", false);
        for (int i = 0; !isEnd(answer, isPatient) && (i < 3 || System.nanoTime() - end < 0); i++) {
            var call =
                    new Plan.Call(
                            "settle-%d-%s-%d".formatted(client.index(), transfer.id(), i),
                            transfer,
                            spelling,
                            false,
                            Isolation.READ_COMMITTED,
                            Plan.Policy.WAIT,
                            false,
                            false,
                            Optional.empty());
            var caller = new Caller(client, plan, call);
            caller.note("call", transfer.id(), spelling, "high", transfer.life());
            answer = caller.ask();
            caller.note("answer", answer.type(), answer.value(), answer.replayed());
            if (answer.type().equals("mismatch")) {
                spelling =
                        spelling == Plan.Spelling.OTHER_PAYLOAD
                                ? Plan.Spelling.PLAIN
                                : Plan.Spelling.OTHER_PAYLOAD;
            }
            if (answer.type().equals("unresolved")) {
                resolve(client, plan, transfer, caller);
            }
            if (!isEnd(answer, isPatient)) {
                LockSupport.parkNanos(20_000_000);
            }
        }
        client.history().write("settled", plan.tenant(), transfer.id(), answer.type());
    }

    private static boolean isEnd(Caller.Answer answer, boolean isPatient) {
        return answer.isFinal() || (answer.type().equals("expired") && !isPatient);
    }

    /** What an operator does: looks for the effects, and then says that there are none. */
    private static void resolve(Client client, Plan plan, Plan.Transfer transfer, Caller caller) {
        try (Connection connection = client.direct()) {
            connection.setAutoCommit(false);
            try (var statement =
                    connection.prepareStatement(
                            """
                            SELECT 1 FROM effect JOIN onlyonce.command_dedup d USING (tenant, command_id)
                            WHERE tenant = ? AND command_id = ? AND d.status = 0 AND at >= d.started_at\
                            """)) {
                statement.setString(1, plan.tenant());
                statement.setString(2, transfer.id());
                if (statement.executeQuery().next()) {
                    return; // the checker will complain
                }
            }
            caller.note("release", transfer.id());
            client.once()
                    .dedup()
                    .resolve(
                            connection,
                            caller.command().scope(),
                            caller.command().id(),
                            Resolution.released(),
                            "torture",
                            "no effects");
            connection.commit();
        } catch (SQLException | NothingToResolveException e) {
            caller.note("unresolved", e); // another client's operator may have been faster
        }
    }
}
