package io.onlyonce.demo.story;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.Outcome;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.inbox.InboxMessage;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.PublishResult;
import io.onlyonce.payload.PayloadHash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import javax.sql.DataSource;

/** The same statements, run by OnlyOnce. */
final class SafeTeller implements Teller {

    private static final String TENANT = "demo";
    private static final CommandScope SCOPE = new CommandScope(TENANT, "app", "account.transfer");

    private final DataSource dataSource;
    private final Bank bank;
    private final OnlyOnce once;

    SafeTeller(DataSource dataSource, Bank bank) throws SQLException {
        this.dataSource = dataSource;
        this.bank = bank;
        once =
                OnlyOnce.on(dataSource)
                        .withSchema(bank.schema())
                        .withTtl(Duration.ofDays(7))
                        .build();
    }

    @Override
    public Answer transfer(Order order, Consumer<Moment> at) throws SQLException {
        var payload = PayloadHash.ofJson("{\"cents\":" + order.cents() + "}");
        try {
            Outcome<String> outcome =
                    once.commands()
                            .run(
                                    Command.of(SCOPE, order.id(), payload),
                                    String.class,
                                    work -> {
                                        String receipt = moveOrReject(work.connection(), order);
                                        work.outbox().append(event(order, receipt));
                                        at.accept(Moment.MOVED);
                                        return receipt;
                                    });
            at.accept(Moment.COMMITTED);
            return Answer.receipt(outcome.value());
        } catch (CommandRejectedException no) {
            return Answer.refused(no.detail());
        } catch (PayloadMismatchException other) {
            return Answer.refused("this id was used for another transfer");
        }
    }

    /** The relay publishes; the broker's first answer is lost, so the relay has to say it again. */
    @Override
    public void publish() throws SQLException {
        var lost = new AtomicBoolean();
        OutboxRelay relay =
                once.relay(
                        events -> {
                            try (var connection = dataSource.getConnection()) {
                                for (OutboxEvent event : events) {
                                    bank.tell(connection, new Event(event.key(), text(event)));
                                }
                            }
                            if (lost.compareAndSet(false, true)) {
                                throw new IOException("the broker's answer was lost");
                            }
                            return Collections.nCopies(events.size(), PublishResult.published());
                        });
        try (relay) {
            relay.start();
            Waiting.until("every event is published", () -> backlog() == 0);
        }
    }

    @Override
    public void receive(Event event) throws SQLException {
        byte[] payload = event.text().getBytes(StandardCharsets.UTF_8);
        once.inbox("mailer")
                .process(
                        InboxMessage.of(TENANT, "bank", event.id(), payload),
                        incoming -> bank.mail(incoming.connection(), event));
    }

    /** A "no" that is to be remembered like a receipt. */
    private String moveOrReject(Connection connection, Order order) throws SQLException {
        try {
            return bank.move(connection, order);
        } catch (NotEnoughMoneyException no) {
            throw new CommandRejectedException("NOT_ENOUGH_MONEY", no.getMessage());
        }
    }

    private long backlog() throws SQLException {
        try (var connection = dataSource.getConnection()) {
            return once.inspector().backlog(connection).rows();
        }
    }

    private static OutboxEvent event(Order order, String receipt) {
        return OutboxEvent.of(
                "transferred:" + order.id(),
                "Account",
                "ann",
                "Transferred",
                receipt.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(OutboxEvent event) {
        return new String(event.payload(), StandardCharsets.UTF_8);
    }
}
