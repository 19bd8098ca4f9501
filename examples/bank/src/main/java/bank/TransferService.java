package bank;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.Outcome;
import io.onlyonce.inbox.InboxAnswer;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

/** Transfers that clients may send as often as they like. */
final class TransferService {

    record Receipt(String from, String to, long cents) {}

    private static final ObjectMapper JSON = new ObjectMapper();

    private final OnlyOnce once;
    private final Accounts accounts;

    TransferService(OnlyOnce once, Accounts accounts) {
        this.once = once;
        this.accounts = accounts;
    }

    /** The body is JSON with from, to and cents; the id is the client's, the same in every retry. */
    Outcome<Receipt> transfer(String caller, String commandId, byte[] body)
            throws SQLException, IOException {
        JsonNode json = JSON.readTree(body);
        var receipt =
                new Receipt(
                        json.path("from").asText(),
                        json.path("to").asText(),
                        json.path("cents").asLong());
        var scope = new CommandScope("bank", caller, "account.transfer");
        var command = Command.of(scope, commandId, PayloadHash.ofJson(body));
        return once.commands()
                .run(
                        command,
                        Receipt.class,
                        work -> {
                            var connection = work.connection();
                            if (!accounts.withdraw(connection, receipt.from(), receipt.cents())) {
                                throw new CommandRejectedException(
                                        "INSUFFICIENT_FUNDS", "The account holds too little.");
                            }
                            accounts.deposit(connection, receipt.to(), receipt.cents());
                            work.outbox()
                                    .append(
                                            OutboxEvent.of(
                                                    "transferred:" + commandId,
                                                    "Account",
                                                    receipt.from(),
                                                    "Transferred",
                                                    body));
                            return receipt;
                        });
    }

    /** An event, as a broker delivers it: perhaps more than once. */
    InboxAnswer printOnStatement(OutboxEvent event) throws SQLException {
        var message = InboxMessage.of("bank", "transfers", event.key(), event.payload());
        String line = new String(event.payload(), StandardCharsets.UTF_8);
        return once.inbox("statements")
                .process(message, in -> accounts.printOnStatement(in.connection(), line));
    }
}
