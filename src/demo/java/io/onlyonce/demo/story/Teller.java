package io.onlyonce.demo.story;

import java.sql.SQLException;
import java.util.function.Consumer;

/** One way to run the bank; the two of them share every statement that moves money. */
interface Teller {

    /** Moves the money; {@code at} is told where the transfer stands. */
    Answer transfer(Order order, Consumer<Moment> at) throws SQLException;

    /** Tells the broker what is still to be told. */
    void publish() throws SQLException;

    /** Sends the mail that an event asks for. */
    void receive(Event event) throws SQLException;

    /** What the broker delivers. */
    record Event(String id, String text) {}
}
