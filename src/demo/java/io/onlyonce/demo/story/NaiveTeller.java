package io.onlyonce.demo.story;

import java.sql.SQLException;
import java.util.Optional;
import java.util.function.Consumer;

import javax.sql.DataSource;

/** Ordinary code: look whether the id was seen, do the work, remember the id, tell the broker. */
final class NaiveTeller implements Teller {

    private final DataSource dataSource;
    private final Bank bank;

    NaiveTeller(DataSource dataSource, Bank bank) {
        this.dataSource = dataSource;
        this.bank = bank;
    }

    @Override
    public Answer transfer(Order order, Consumer<Moment> at) throws SQLException {
        try (var connection = dataSource.getConnection()) {
            Optional<String> seen = bank.seen(connection, order.id());
            if (seen.isPresent()) {
                return Answer.receipt(seen.get());
            }
            connection.setAutoCommit(false);
            String receipt = bank.move(connection, order);
            at.accept(Moment.MOVED);
            connection.commit();
            connection.setAutoCommit(true);

            at.accept(Moment.COMMITTED);
            bank.remember(connection, order.id(), receipt);
            bank.tell(connection, new Event("transferred:" + order.id(), receipt));
            return Answer.receipt(receipt);
        } catch (NotEnoughMoneyException no) {
            return Answer.refused(no.getMessage());
        }
    }

    /** Nothing: whatever was not told at once is forgotten. */
    @Override
    public void publish() {}

    @Override
    public void receive(Event event) throws SQLException {
        try (var connection = dataSource.getConnection()) {
            bank.mail(connection, event);
        }
    }
}
