package io.onlyonce.inbox;

import io.onlyonce.inbox.InboxSeen.State;
import io.onlyonce.outbox.EventBuffer;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.sql.ClaimedRun;
import io.onlyonce.sql.SqlState;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** One transaction for some messages, none of them twice: all that can be done is, or nothing. */
final class InboxRun<X extends Exception> extends ClaimedRun<List<InboxAnswer>, X> {

    static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final Inbox inbox;
    private final List<InboxRow> rows;
    private final MessageWork<X> work;
    private List<InboxSeen> seen = List.of();
    private boolean begun;
    private Appended counts = new Appended(0, 0);

    private record Appended(int appended, int duplicates) {}

    InboxRun(Inbox inbox, List<InboxRow> rows, MessageWork<X> work) {
        super(
                inbox.setup().dataSource(),
                inbox.transaction(),
                inbox.turns(),
                rows.get(0).lockKey(),
                Duration.ZERO);
        this.inbox = inbox;
        this.rows = rows;
        this.work = work;
    }

    List<InboxAnswer> run() throws X, SQLException {
        try {
            return ask();
        } finally {
            if (counts.appended() + counts.duplicates() > 0) {
                inbox.setup()
                        .observer()
                        .tell(l -> l.eventsAppended(counts.appended(), counts.duplicates()));
            }
        }
    }

    /** True if the failure came from the work or its end, so that others may fare better. */
    boolean hasBegun() {
        return begun;
    }

    @Override
    protected Object claim(Connection connection, String settings) throws SQLException {
        InboxStore.Opened opened = inbox.store().open(connection, settings, rows);
        seen = opened.seen();
        return opened.mark();
    }

    @Override
    protected Said said() {
        if (isResolving() && any(State.IN_FLIGHT)) {
            return Said.IN_FLIGHT;
        }
        return any(State.STARTED) ? Said.STARTED : Said.SETTLED;
    }

    private boolean any(State state) {
        return seen.stream().anyMatch(each -> each.state() == state);
    }

    @Override
    protected List<InboxAnswer> work(Transaction transaction) throws X, SQLException {
        begun = true;
        refuseIfOutOfOrder();
        Map<String, EventBuffer> buffers = new TreeMap<>();
        for (int i = 0; i < rows.size(); i++) {
            if (seen.get(i).state() == State.STARTED) {
                InboxMessage message = rows.get(i).message();
                var incoming = new Incoming(transaction.guarded(), message);
                work.run(incoming);
                OptionalLong gap = transaction.gap();
                if (gap.isPresent()) {
                    throw new MessageDeferredException(gap.getAsLong());
                }
                for (OutboxEvent event : incoming.outbox().events()) {
                    buffers.computeIfAbsent(message.tenant(), t -> new EventBuffer()).append(event);
                }
            }
        }
        Map<String, List<OutboxEvent>> events = new TreeMap<>();
        buffers.forEach((tenant, buffer) -> events.put(tenant, buffer.events()));
        commit(
                transaction,
                (connection, mark) -> {
                    int appended = inbox.store().finishAndCommit(connection, mark, events);
                    int all = events.values().stream().mapToInt(List::size).sum();
                    counts = new Appended(appended, all - appended);
                });
        if (!events.isEmpty()) {
            inbox.setup().onEvents().run();
        }
        return answers();
    }

    /** A message that would have to wait for an earlier one has been claimed with the others. */
    private void refuseIfOutOfOrder() {
        Set<List<String>> failed = new HashSet<>();
        for (int i = 0; i < rows.size(); i++) {
            State state = seen.get(i).state();
            InboxMessage message = rows.get(i).message();
            var key = message.orderingKey().map(each -> List.of(message.tenant(), each));
            if (key.isPresent() && state == State.STARTED && failed.contains(key.get())) {
                throw new OutOfOrderException();
            }
            if (key.isPresent() && state != State.STARTED && state != State.DUPLICATE) {
                failed.add(key.get());
            }
        }
    }

    /** Says that the messages have to be tried one by one. */
    static final class OutOfOrderException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OutOfOrderException() {
            super("one by one", null, false, false);
        }
    }

    @Override
    protected List<InboxAnswer> settled() {
        return answers();
    }

    private List<InboxAnswer> answers() {
        List<InboxAnswer> answers = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            answers.add(answer(rows.get(i).message(), seen.get(i)));
        }
        return answers;
    }

    private InboxAnswer answer(InboxMessage message, InboxSeen one) {
        return switch (one.state()) {
            case STARTED -> new InboxAnswer.Processed();
            case DUPLICATE ->
                    isOwn(one.mark()) // what this very call committed
                            ? new InboxAnswer.Processed()
                            : new InboxAnswer.Duplicate();
            case IN_FLIGHT -> new InboxAnswer.InFlight(RETRY_AFTER);
            case VIOLATION -> new InboxAnswer.IdentityViolation();
            case UNFINISHED -> new InboxAnswer.Failed(new MessageUnfinishedException(message));
        };
    }

    /** Also if the claim waited too long for a row that somebody else has. */
    @Override
    protected List<InboxAnswer> inFlight() {
        return rows.stream()
                .<InboxAnswer>map(row -> new InboxAnswer.InFlight(RETRY_AFTER))
                .toList();
    }

    /** Together again, they would take the same rows in the same order; alone, each takes few. */
    @Override
    protected boolean isHopeless(Throwable failure) {
        return rows.size() > 1 && SqlState.is(SqlState.DEADLOCK_DETECTED, failure);
    }

    @Override
    protected RuntimeException notCommitted(CommitOutcomeUnknownException unknown) {
        return new MessageNotCommittedException(rows.get(0).message(), unknown);
    }

    @Override
    protected SQLException explained(SQLException failure) {
        return inbox.explained(failure);
    }
}
