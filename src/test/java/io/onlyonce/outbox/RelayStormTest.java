package io.onlyonce.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.Schema;
import io.onlyonce.ground.Await;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Four relays in two JVMs while everything fails that can. */
class RelayStormTest {

    private int incarnations;

    @Test
    void nothing_is_lost_and_order_is_kept_while_relays_are_killed_and_marks_are_lost()
            throws Exception {
        storm(3_000, 3, Duration.ofSeconds(90));
    }

    @Test
    @Tag("long")
    void nothing_is_lost_and_order_is_kept_in_a_hundred_thousand_events() throws Exception {
        storm(100_000, 24, Duration.ofMinutes(20));
    }

    private void storm(int events, int blows, Duration deadline) throws Exception {
        try (var db = TestDatabase.postgres()) {
            Schema.apply(db.dataSource());
            List<ChildJvm> children = new ArrayList<>();
            var lightning = Executors.newSingleThreadScheduledExecutor();
            try (var ledger = new StormLedger(db);
                    var producers = new StormProducers(db.dataSource(), events)) {
                children.add(relays(db));
                children.add(relays(db));
                lightning.scheduleWithFixedDelay(
                        () -> strike(ledger), 300, 300, TimeUnit.MILLISECONDS);
                for (int blow = 1; blow <= blows; blow++) {
                    long goal = (long) events * blow / (blows + 1);
                    await(deadline, ledger, producers, goal);
                    System.out.printf("storm: %d of %d events%n", ledger.published(), events);
                    if (blow % 3 == 2) {
                        freeze(children.get(0), ledger);
                    } else {
                        children.remove(0).kill();
                        children.add(relays(db));
                    }
                }
                Await.until(
                        deadline,
                        () -> {
                            producers.relayed(ledger.deliveries());
                            return producers.isDone();
                        },
                        "all is appended");
                producers.finish();
                lightning.shutdownNow();
                Await.until(
                        deadline,
                        () -> ledger.pending() == 0 && ledger.blocked() == 0,
                        "nothing is left to do");
                for (ChildJvm child : children) {
                    end(child);
                }
                verify(ledger, events);
            } finally {
                lightning.shutdownNow();
                for (ChildJvm child : children) {
                    child.close();
                }
            }
        }
    }

    private static void await(
            Duration deadline, StormLedger ledger, StormProducers producers, long goal)
            throws Exception {
        Await.until(
                deadline,
                () -> {
                    long delivered = ledger.deliveries(); // with duplicates: near enough
                    producers.relayed(delivered);
                    if (producers.isDone()) {
                        producers.finish(); // says why, if one has failed
                    }
                    return delivered >= goal;
                },
                goal + " deliveries are made");
    }

    /** Beyond its lease: its relays come back to buckets that are no longer theirs. */
    private static void freeze(ChildJvm child, StormLedger ledger) throws Exception {
        child.freeze();
        Await.until(
                Duration.ofSeconds(30),
                () -> ledger.relaysAlive() <= 2,
                "the frozen relays are given up");
        child.thaw();
    }

    private static void verify(StormLedger ledger, int events) throws Exception {
        var duplicates = ledger.duplicates();
        System.out.printf(
                "storm: %d events, %d deliveries; %s%n  duplicates: %s%n",
                events, ledger.deliveries(), ledger.mishaps(), duplicates);
        assertThat(ledger.published()).as("published").isEqualTo(events);
        assertThat(ledger.lost()).as("published but never delivered").isZero();
        assertThat(ledger.falseOnes()).as("rolled back, or under another id").isZero();
        assertThat(ledger.outOfOrder()).as("first delivered out of order").isZero();
        assertThat(duplicates.getOrDefault("late", 0L))
                .as("delivered after the mark, by relays that knew it was refused")
                .isLessThanOrEqualTo(ledger.unmarked());
    }

    private void strike(StormLedger ledger) {
        try {
            ledger.terminateOne();
        } catch (Exception e) {
            throw new IllegalStateException(e); // no more strikes: the count of them will tell
        }
    }

    private static void end(ChildJvm child) throws Exception {
        child.awaitCheckpoint(StormRelays.STOP);
        child.proceed();
        child.awaitLine("stopped");
        child.output().stream()
                .filter(line -> line.startsWith("stats "))
                .forEach(System.out::println);
    }

    private ChildJvm relays(TestDatabase db) throws Exception {
        int number = ++incarnations;
        return ChildJvm.start(
                StormRelays.class, db.url(), db.user(), db.password(), "jvm" + number, "" + number);
    }
}
