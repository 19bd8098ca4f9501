package io.onlyonce.inbox;

import io.onlyonce.tx.DeadlineExceededException;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A broker's poll: chunks of messages, each in one transaction; where that fails, one by one, so
 * that only the guilty fail. Then those that waited for a version that came later in the batch.
 */
final class InboxBatchRun<X extends Exception> {

    /** Every claim takes a lock, and a server has room for some thousands of them in all. */
    static final int CHUNK = 100;

    private static final int DEFERRED_PASSES = 8;

    private final Inbox inbox;
    private final List<InboxMessage> messages;
    private final MessageWork<X> work;
    private final InboxAnswer[] answers;
    private final Set<OrderingKey> failedKeys = new HashSet<>();
    private Optional<Throwable> outage = Optional.empty();

    /** Two tenants may use the same key, and must not wait for each other. */
    private record OrderingKey(String tenant, String key) {}

    InboxBatchRun(Inbox inbox, List<InboxMessage> messages, MessageWork<X> work) {
        this.inbox = inbox;
        this.messages = messages;
        this.work = work;
        answers = new InboxAnswer[messages.size()];
    }

    InboxBatch run() {
        Map<InboxMessage.Identity, Integer> firsts = new LinkedHashMap<>();
        Set<OrderingKey> doubtful = new HashSet<>();
        List<Integer> behind = new ArrayList<>();
        for (int i = 0; i < messages.size(); i++) {
            Integer first = firsts.putIfAbsent(messages.get(i).identity(), i);
            if (first != null && !isSame(first, i)) {
                key(i).ifPresent(doubtful::add);
            } else if (first == null && key(i).filter(doubtful::contains).isPresent()) {
                behind.add(i);
            }
        }
        List<Integer> todo = new ArrayList<>(firsts.values());
        todo.removeAll(behind);
        for (int from = 0; from < todo.size(); from += CHUNK) {
            chunk(todo.subList(from, Math.min(from + CHUNK, todo.size())));
        }
        askDeferredAgain(todo);
        behind.forEach(i -> set(i, new InboxAnswer.Skipped())); // of a copy with another payload
        for (int i = 0; i < messages.size(); i++) {
            int first = firsts.getOrDefault(messages.get(i).identity(), i);
            if (first != i) {
                set(i, answerOfCopy(first, i));
            }
        }
        return new InboxBatch(Arrays.asList(answers));
    }

    /** What was not done with left nothing to compare with: then the database is asked. */
    private InboxAnswer answerOfCopy(int first, int copy) {
        boolean isSame = isSame(first, copy);
        if (answers[first].isDone()) {
            return isSame ? new InboxAnswer.Duplicate() : new InboxAnswer.IdentityViolation();
        }
        return isSame ? answers[first] : answerAlone(copy);
    }

    private boolean isSame(int first, int copy) {
        return messages.get(first).hash().equals(messages.get(copy).hash());
    }

    private void chunk(List<Integer> indexes) {
        List<Integer> open = indexes.stream().filter(i -> !isHeldBack(i)).toList();
        indexes.stream().filter(this::isHeldBack).forEach(i -> set(i, new InboxAnswer.Skipped()));
        if (open.isEmpty() || outage.isPresent()) {
            outage.ifPresent(cause -> open.forEach(i -> set(i, new InboxAnswer.Failed(cause))));
            return;
        }
        var run = new InboxRun<>(inbox, open.stream().map(i -> row(i)).toList(), work);
        try {
            List<InboxAnswer> found = run.run();
            for (int n = 0; n < open.size(); n++) {
                set(open.get(n), found.get(n));
            }
        } catch (Exception e) {
            noteOutage(run, e);
            open.forEach(this::alone);
        }
    }

    private void alone(int i) {
        set(i, answerAlone(i));
    }

    private InboxAnswer answerAlone(int i) {
        return isHeldBack(i) ? new InboxAnswer.Skipped() : ask(i);
    }

    private InboxAnswer ask(int i) {
        if (outage.isPresent()) {
            return new InboxAnswer.Failed(outage.get());
        }
        var run = new InboxRun<>(inbox, List.of(row(i)), work);
        try {
            return run.run().get(0);
        } catch (MessageDeferredException e) {
            return new InboxAnswer.Deferred(e.expected());
        } catch (Exception e) {
            noteOutage(run, e);
            return new InboxAnswer.Failed(e);
        }
    }

    /** There is no use in waiting for a connection for each of them. */
    private void noteOutage(InboxRun<X> run, Exception failure) {
        if (failure instanceof InterruptedException) { // somebody wants this thread to end
            Thread.currentThread().interrupt();
            outage = Optional.of(failure);
        }
        boolean isOfTheDatabase =
                failure instanceof SQLException || failure instanceof DeadlineExceededException;
        if (isOfTheDatabase && !run.hasBegun()) {
            outage = Optional.of(failure);
        }
    }

    /** Back and forth, as long as it helps; what is still missing then comes with another poll. */
    private void askDeferredAgain(List<Integer> todo) {
        List<Integer> waiting = new ArrayList<>(todo);
        for (int pass = 0; pass < DEFERRED_PASSES; pass++) {
            waiting.removeIf(i -> !(answers[i] instanceof InboxAnswer.Deferred) || isHeldBack(i));
            int before = waiting.size();
            Collections.reverse(waiting);
            waiting.forEach(this::alone);
            waiting.removeIf(i -> answers[i].isDone());
            if (waiting.size() == before) {
                return;
            }
        }
    }

    private boolean isHeldBack(int i) {
        return key(i).filter(failedKeys::contains).isPresent();
    }

    private Optional<OrderingKey> key(int i) {
        InboxMessage message = messages.get(i);
        return message.orderingKey().map(key -> new OrderingKey(message.tenant(), key));
    }

    /** What is deferred holds nobody back: the version that it waits for may come after it. */
    private void set(int i, InboxAnswer answer) {
        answers[i] = answer;
        if (!answer.isDone() && !(answer instanceof InboxAnswer.Deferred)) {
            key(i).ifPresent(failedKeys::add);
        }
    }

    private InboxRow row(int i) {
        return inbox.row(messages.get(i));
    }
}
