package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.inbox.InboxAnswer.Processed;
import io.onlyonce.tx.RetryPolicy;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** At SERIALIZABLE, messages that have nothing to do with each other do not abort each other. */
class InboxIsolationTest extends DatabaseContract {

    private static final int CALLERS = 8;
    private static final int EACH = 60;

    InboxIsolationTest() {
        super(TestDatabase::postgres);
    }

    @Test
    void distinct_messages_abort_nobody_singly_and_in_batches() throws Exception {
        Mailroom.open(db);
        long before = rolledBack();
        try (var pool = db.pool(CALLERS)) {
            Inbox inbox =
                    Mailroom.once(pool)
                            .inbox("billing")
                            .withTransaction(
                                    TransactionOptions.serializable()
                                            .withRetry(RetryPolicy.none()));
            List<Callable<Boolean>> callers = new ArrayList<>();
            for (int c = 0; c < CALLERS; c++) {
                int caller = c;
                callers.add(
                        () -> caller % 2 == 0 ? singly(inbox, caller) : together(inbox, caller));
            }

            assertThat(Race.of(callers)).containsOnly(true);
        }
        Await.until( // backends report when they end
                Duration.ofSeconds(30),
                () ->
                        db.count(
                                        "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                            + " current_database() AND pid <> pg_backend_pid() AND"
                                            + " backend_type = 'client backend'")
                                == 0,
                "the pool's backends have ended");
        assertThat(rolledBack() - before).as("transactions rolled back").isLessThan(3);
        assertThat(db.count("SELECT count(*) FROM effect")).isEqualTo((long) CALLERS * EACH);
    }

    private static boolean singly(Inbox inbox, int caller) throws Exception {
        boolean processed = true;
        for (int i = 0; i < EACH; i++) {
            String id = "one-" + Markers.MARK + caller + ":" + i;
            processed &=
                    inbox.process(Mailroom.message(id), Mailroom::apply).equals(new Processed());
        }
        return processed;
    }

    private static boolean together(Inbox inbox, int caller) {
        List<InboxMessage> messages = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            messages.add(Mailroom.message("all-" + Markers.MARK + caller + ":" + i));
        }
        return inbox.processAll(messages, Mailroom::apply).isDone();
    }

    private long rolledBack() throws Exception {
        return db.count(
                "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()");
    }
}
