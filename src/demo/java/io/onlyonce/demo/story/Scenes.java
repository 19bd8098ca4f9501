package io.onlyonce.demo.story;

import java.sql.SQLException;
import java.util.List;

/**
 * The story: each scene happens to both sides, and what became of it is read from the database. The
 * claims are about the second side only; the first shows what would have happened.
 */
final class Scenes {

    private static final long TEN = 10_00;
    private static final long SALARY = 2_000_00;
    private static final String EVENT = "transferred:other-amount";

    private final Ground ground;
    private final Side without;
    private final Side with;
    private final Screen screen;
    private int broken;

    /** How a scene asks a side for its transfer; answers in the order in which clients got them. */
    private interface Asking {
        List<Answer> ask(Side side) throws Exception;
    }

    Scenes(Ground ground, Side without, Side with, Screen screen) {
        this.ground = ground;
        this.without = without;
        this.with = with;
        this.screen = screen;
    }

    /** Plays them all and returns how many claims did not hold. */
    int play() throws Exception {
        var halfway = new Order("killed-halfway", TEN);
        var committed = new Order("killed-committed", TEN);
        // Processes take a second to start; meanwhile the first scenes are played.
        try (var naiveHalfway = Killable.start(ground, without, halfway, Moment.MOVED);
                var safeHalfway = Killable.start(ground, with, halfway, Moment.MOVED);
                var naiveAfter = Killable.start(ground, without, committed, Moment.COMMITTED);
                var safeAfter = Killable.start(ground, with, committed, Moment.COMMITTED)) {
            doubleClick();
            lostAnswer();
            otherAmount();
            impatience();
            killed(
                    "A process is killed in the middle of a transfer",
                    "killed in the middle",
                    halfway,
                    Moment.MOVED,
                    naiveHalfway,
                    safeHalfway);
            killed(
                    "A process is killed after COMMIT, before it can say so",
                    "killed after COMMIT",
                    committed,
                    Moment.COMMITTED,
                    naiveAfter,
                    safeAfter);
        }
        refusal();
        events();
        accounts();
        return broken;
    }

    private void doubleClick() throws Exception {
        var order = new Order("double-click", TEN);
        movedOnce(
                "a double click",
                order,
                side -> Clients.together(2, side.teller(), order),
                "A double click",
                "Two requests with the same id arrive together.");
    }

    private void lostAnswer() throws Exception {
        var order = new Order("lost-answer", TEN);
        movedOnce(
                "an answer lost on its way",
                order,
                side ->
                        List.of(
                                Clients.ask(side.overWire(), order, this::cutWhenMoved),
                                Clients.ask(side.teller(), order)),
                "The answer is lost",
                "The line to the database breaks %s. Is it done? The client tries again."
                        .formatted(
                                ground.isPostgres()
                                        ? "while it answers COMMIT"
                                        : "at the end of the transfer"));
    }

    private void cutWhenMoved(Moment moment) {
        if (moment == Moment.MOVED) {
            ground.wire().cutNextAnswer();
        }
    }

    private void impatience() throws Exception {
        var order = new Order("impatience", TEN);
        movedOnce(
                "32 impatient retries",
                order,
                side -> Clients.together(32, side.teller(), order),
                "32 impatient retries",
                "A client that cannot wait sends the same transfer 32 times at once.");
    }

    private void killed(
            String title, String row, Order order, Moment moment, Killable naive, Killable safe)
            throws Exception {
        movedOnce(
                row,
                order,
                side -> {
                    (side == without ? naive : safe).runAndKill(moment);
                    return List.of(Clients.ask(side.teller(), order));
                },
                title,
                "SIGKILL to the JVMs %d and %d. Then the client tries again with the same id."
                        .formatted(naive.pid(), safe.pid()));
    }

    /** A scene after which the money must have moved once, whoever asked how often. */
    private void movedOnce(String row, Order order, Asking asking, String title, String story)
            throws Exception {
        screen.scene(title, story);
        List<Answer> plain = asking.ask(without);
        long wrong = moves(without, order);
        screen.without(wrong == 1, "moved " + Words.times(wrong) + "; " + Words.heard(plain));

        List<Answer> answers = asking.ask(with);
        long moves = moves(with, order);
        screen.with(moves == 1, "moved " + Words.times(moves) + "; " + Words.heard(answers));
        claim("the money moved once", moves == 1);
        // On H2, whose COMMIT is a trip of its own, a line can break before it: an honest error.
        claim(
                "every client got the one receipt",
                answers.stream()
                                .filter(answer -> answer.isReceipt() || ground.isPostgres())
                                .allMatch(receiptOf(order)::equals)
                        && answers.get(answers.size() - 1).isReceipt());
        screen.row(row, "once", Words.times(wrong), Words.times(moves));
    }

    private void otherAmount() throws Exception {
        screen.scene(
                "A retry with another amount",
                "By a mistake of the client, the id of a 10.00 transfer is used again for 99.00.");
        var order = new Order("other-amount", TEN);
        var other = new Order(order.id(), 99_00);
        Clients.ask(without.teller(), order);
        Answer plain = Clients.ask(without.teller(), other);
        screen.without(!plain.isReceipt(), "says " + plain + " for 99.00 that never moved");

        Clients.ask(with.teller(), order);
        Answer answer = Clients.ask(with.teller(), other);
        screen.with(!answer.isReceipt(), "says " + answer);
        claim("another amount is refused", answer.kind() == Answer.Kind.REFUSED);
        claim("only the first transfer moved", moves(with, order) == 1);
        screen.row(
                "a retry with another amount",
                "refused",
                Words.verdict(plain),
                Words.verdict(answer));
    }

    private void refusal() throws Exception {
        screen.scene(
                "A \"no\", asked again",
                "Ann has too little for 2,000.00: refused. Her salary comes in, and then a late"
                        + " retry",
                "of the refused transfer, which everybody believes to be dead.");
        var order = new Order("refused", SALARY);
        List<Answer> plain = refused(without, order);
        long wrong = moves(without, order);
        screen.without(wrong == 0, "first " + plain.get(0) + ", then " + plain.get(1));

        List<Answer> answers = refused(with, order);
        long moves = moves(with, order);
        screen.with(moves == 0, "first " + answers.get(0) + ", then " + answers.get(1));
        claim("a \"no\" moves nothing, now and later", moves == 0);
        claim("a \"no\" stays the same \"no\"", answers.get(0).equals(answers.get(1)));
        claim("it is a \"no\"", answers.get(0).kind() == Answer.Kind.REFUSED);
        screen.row("a late retry of a \"no\"", "never", Words.times(wrong), Words.times(moves));
    }

    private List<Answer> refused(Side side, Order order) throws SQLException {
        Answer first = Clients.ask(side.teller(), order);
        try (var connection = ground.pool().getConnection()) {
            side.bank().add(connection, "ann", SALARY);
        }
        return List.of(first, Clients.ask(side.teller(), order));
    }

    private void events() throws Exception {
        screen.scene(
                "Every transfer is an event, every event a mail to Ann",
                "Acknowledgements get lost, so the broker delivers everything twice.");
        without.teller().publish();
        deliverTwice(without);
        long unheard = untold(without);
        long mails = mails(without);
        screen.without(
                unheard == 0 && mails == 1,
                "%d transfers nobody hears of; %s for one event"
                        .formatted(unheard, Words.count(mails, "mail")));

        with.teller().publish();
        deliverTwice(with);
        long unheardWith = untold(with);
        long mailsWith = mails(with);
        long published = number(with, "SELECT count(*) FROM #topic WHERE event_id = ?", EVENT);
        screen.with(
                unheardWith == 0 && mailsWith == 1,
                "%d transfers nobody hears of; published %s, delivered %s, %s"
                        .formatted(
                                unheardWith,
                                Words.times(published),
                                Words.times(2 * published),
                                Words.count(mailsWith, "mail")));
        claim("every transfer is told", unheardWith == 0);
        claim("the event was published more than once", published > 1);
        claim("one event is one mail", mailsWith == 1);
        claim(
                "every event is one mail",
                number(with, "SELECT count(*) FROM #mail")
                        == number(with, "SELECT count(DISTINCT event_id) FROM #mail"));
        screen.row("transfers nobody hears of", "0", "" + unheard, "" + unheardWith);
        screen.row("mails for one event", "1", "" + mails, "" + mailsWith);
    }

    private void deliverTwice(Side side) throws SQLException {
        List<Teller.Event> topic;
        try (var connection = ground.pool().getConnection()) {
            topic = side.bank().told(connection);
        }
        for (int delivery = 1; delivery <= 2; delivery++) {
            for (Teller.Event event : topic) {
                side.teller().receive(event);
            }
        }
    }

    private long untold(Side side) throws SQLException {
        return number(
                side,
                """
                SELECT count(*) FROM #transfer
                WHERE 'R-' || receipt NOT IN (SELECT content FROM #topic)
                """);
    }

    private long mails(Side side) throws SQLException {
        return number(side, "SELECT count(*) FROM #mail WHERE event_id = ?", EVENT);
    }

    private void accounts() throws SQLException {
        long should = Bank.START + SALARY - 6 * TEN;
        String query = "SELECT cents FROM #account WHERE name = 'ann'";
        long plain = number(without, query);
        long safe = number(with, query);
        claim("Ann has what she should have", safe == should);
        screen.row("Ann's account", Words.money(should), Words.money(plain), Words.money(safe));
    }

    private Answer receiptOf(Order order) throws SQLException {
        return Answer.receipt(
                "R-"
                        + number(
                                with,
                                "SELECT coalesce(max(receipt), 0) FROM #transfer WHERE command_id ="
                                        + " ?",
                                order.id()));
    }

    private long moves(Side side, Order order) throws SQLException {
        return number(side, "SELECT count(*) FROM #transfer WHERE command_id = ?", order.id());
    }

    private long number(Side side, String query, Object... values) throws SQLException {
        try (var connection = ground.pool().getConnection()) {
            return side.bank().number(connection, query, values);
        }
    }

    private void claim(String claim, boolean held) {
        if (!held) {
            broken++;
            screen.broken(claim);
        }
    }
}
