package io.onlyonce.inbox;

import io.onlyonce.observe.ObservedMessage;
import io.onlyonce.observe.ObservedMessage.Decision;
import io.onlyonce.sql.Observer;

import java.sql.Connection;

/** What a listener is told of one consumer's messages. */
final class InboxWatch {

    private final Observer observer;
    private final String consumer;

    InboxWatch(Observer observer, String consumer) {
        this.observer = observer;
        this.consumer = consumer;
    }

    boolean isWatching() {
        return observer.isWatching();
    }

    /** High road: the connection is back. */
    void tell(InboxMessage message, Decision decision) {
        ObservedMessage observed = observed(message, decision);
        observer.tell(listener -> listener.message(observed));
    }

    /** Low road; only what counts as processed can be undone by a rollback. */
    void tell(Connection connection, InboxMessage message, Decision decision) {
        ObservedMessage observed = observed(message, decision);
        observer.tell(
                connection, decision != Decision.PROCESSED, listener -> listener.message(observed));
    }

    private ObservedMessage observed(InboxMessage message, Decision decision) {
        return new ObservedMessage(consumer, message.tenant(), message.source(), decision);
    }

    static Decision decisionOf(InboxAnswer answer) {
        if (answer instanceof InboxAnswer.Processed) {
            return Decision.PROCESSED;
        }
        if (answer instanceof InboxAnswer.Duplicate) {
            return Decision.DUPLICATE;
        }
        if (answer instanceof InboxAnswer.InFlight) {
            return Decision.IN_FLIGHT;
        }
        if (answer instanceof InboxAnswer.IdentityViolation) {
            return Decision.VIOLATION;
        }
        if (answer instanceof InboxAnswer.Deferred) {
            return Decision.DEFERRED;
        }
        return answer instanceof InboxAnswer.Skipped ? Decision.SKIPPED : Decision.FAILED;
    }

    static Decision decisionOf(InboxSeen seen) {
        return switch (seen.state()) {
            case STARTED -> Decision.PROCESSED;
            case DUPLICATE -> Decision.DUPLICATE;
            case IN_FLIGHT -> Decision.IN_FLIGHT;
            case VIOLATION -> Decision.VIOLATION;
            case UNFINISHED -> Decision.FAILED;
        };
    }
}
