package io.onlyonce.inbox;

import java.util.List;

/**
 * What became of the messages of a batch.
 *
 * @param answers one per message, in the order in which the messages were given
 */
public record InboxBatch(List<InboxAnswer> answers) {

    /** Keeps a copy. */
    public InboxBatch {
        answers = List.copyOf(answers);
    }

    /**
     * How many messages from the first on are done with, so that a broker that acknowledges by
     * position may be acknowledged up to there. Later ones may be done too; delivered again, they
     * are duplicates.
     */
    public int acknowledgeable() {
        int count = 0;
        while (count < answers.size() && answers.get(count).isDone()) {
            count++;
        }
        return count;
    }

    /** True if all of them are done with. */
    public boolean isDone() {
        return acknowledgeable() == answers.size();
    }
}
