package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Eight consumers in four JVMs that are killed, some between COMMIT and acknowledgement. */
class InboxStormTest {

    private static final int JVMS = 4;

    private final Random random = new Random(8);
    private final List<ChildJvm> children = new ArrayList<>();
    private int incarnations;
    private int unacknowledged;
    private int patience;
    private TestDatabase db;

    @Test
    void every_effect_happens_once_while_consumers_are_killed() throws Exception {
        storm(2_000, 3, Duration.ofSeconds(90));
    }

    @Test
    @Tag("long")
    void every_effect_of_fifty_thousand_messages_happens_once() throws Exception {
        storm(50_000, 40, Duration.ofMinutes(20));
    }

    /**
     * @param blows how many are killed between COMMIT and acknowledgement; as many at any moment
     */
    private void storm(int messages, int blows, Duration deadline) throws Exception {
        try (var opened = TestDatabase.postgres()) {
            db = opened;
            Schema.apply(db.dataSource());
            db.execute(StormBroker.TABLES + StormBroker.DELIVERIES.formatted(messages));
            long deliveries = count("delivery");
            patience = 1 + (int) deliveries / (150 * blows); // so that they die all along the way
            for (int i = 0; i < JVMS; i++) {
                children.add(consumers(blows));
            }
            for (int blow = 1; blow <= blows; blow++) {
                long goal = deliveries * blow / (blows + 1);
                Await.until(deadline, () -> isSettled(goal, blows), goal + " are settled");
                System.out.printf("storm: %d of %d deliveries%n", goal, deliveries);
                kill(random.nextInt(JVMS), blows);
            }
            Await.until(deadline, () -> isSettled(deliveries, blows), "all are settled");
            verify(messages, blows);
        } finally {
            for (ChildJvm child : children) {
                child.close();
            }
        }
    }

    /** Kills on the way those who stand between COMMIT and acknowledgement. */
    private boolean isSettled(long goal, int blows) throws Exception {
        for (int i = 0; i < JVMS; i++) {
            if (isUnacknowledged(children.get(i))) {
                unacknowledged++;
                kill(i, blows);
            }
            assertThat(children.get(i).errors()).as("what a consumer died of").isEmpty();
        }
        return count("delivery WHERE state <> 'waiting'") >= goal;
    }

    private static boolean isUnacknowledged(ChildJvm child) {
        return child.output().contains("@checkpoint " + StormConsumers.COMMITTED);
    }

    private void kill(int child, int blows) throws Exception {
        children.get(child).kill();
        children.set(child, consumers(blows));
    }

    private ChildJvm consumers(int blows) throws Exception {
        int number = ++incarnations;
        int rounds = unacknowledged < blows ? 1 + random.nextInt(patience) : 0;
        return ChildJvm.start(
                StormConsumers.class,
                db.url(),
                db.user(),
                db.password(),
                "jvm" + number,
                "" + number,
                "" + rounds);
    }

    private void verify(int messages, int blows) throws SQLException {
        long processed = count("delivery WHERE answer = 'Processed'");
        System.out.printf(
                "storm: %d messages, %d deliveries, %d processed, %d duplicates, %d set aside; %d"
                        + " killed between COMMIT and acknowledgement, %d at any moment%n",
                messages,
                count("delivery"),
                processed,
                count("delivery WHERE answer = 'Duplicate'"),
                count("delivery WHERE state = 'aside'"),
                unacknowledged,
                blows);
        assertThat(unacknowledged)
                .as("killed before acknowledgement")
                .isGreaterThanOrEqualTo(blows);
        assertThat(processed).as("answers that got through").isLessThan(messages);

        assertThat(count("effect")).as("effects").isEqualTo(messages);
        assertThat(count("(SELECT DISTINCT message FROM effect) e")).isEqualTo(messages);
        assertThat(count("onlyonce.outbox_event")).as("events").isEqualTo(messages);
        assertThat(count("onlyonce.inbox_message WHERE status = 1")).isEqualTo(messages);
        assertThat(
                        count(
                                "delivery d JOIN effect e USING (message)"
                                        + " WHERE d.state <> CASE WHEN d.payload = e.payload"
                                        + " THEN 'acknowledged' ELSE 'aside' END"))
                .as("acknowledged with the payload that was applied, and set aside with another")
                .isZero();
    }

    private long count(String from) throws SQLException {
        return db.count("SELECT count(*) FROM " + from);
    }
}
