package io.onlyonce.retention;

import io.onlyonce.sql.Names;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What is kept for how long. Commands say it themselves ({@code withTtl}); the rest stands here.
 * Immutable; every method makes a copy.
 *
 * @param eventsKept how long an event stays after it was published or discarded; its key is unique
 *     until then
 * @param messagesKept how long a message stays after it was processed; it is a duplicate until then
 * @param archivesAll whether forgotten commands of every operation are archived
 * @param archived the operations whose forgotten commands are archived
 * @param tombstoned the operations whose results are dropped as soon as they have expired
 * @param archiveKept how long the archive keeps a row; empty for ever
 * @param lockBound how long a chunk may hold its rows
 */
public record RetentionOptions(
        Duration eventsKept,
        Duration messagesKept,
        boolean archivesAll,
        Set<String> archived,
        Set<String> tombstoned,
        Optional<Duration> archiveKept,
        Duration lockBound) {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    /** Refuses what cannot work, with a sentence. */
    public RetentionOptions {
        kept(eventsKept, "eventsKept");
        kept(messagesKept, "messagesKept");
        archiveKept.ifPresent(kept -> kept(kept, "archiveKept"));
        archived = Set.copyOf(archived);
        tombstoned = Set.copyOf(tombstoned);
        if (lockBound.compareTo(Duration.ofMillis(10)) < 0
                || lockBound.compareTo(Duration.ofSeconds(10)) > 0) {
            throw new IllegalArgumentException(
                    "lockBound must be between 10 milliseconds and 10 seconds.");
        }
    }

    private static void kept(Duration kept, String what) {
        if (kept.isNegative() || kept.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(what + " must be between zero and a century.");
        }
    }

    /**
     * Published and discarded events stay for 7 days and processed messages for 30; forgotten
     * commands are removed without a copy, and the archive is kept for ever; chunks hold their rows
     * for 100 ms at most.
     */
    public static RetentionOptions standard() {
        return new RetentionOptions(
                Duration.ofDays(7),
                Duration.ofDays(30),
                false,
                Set.of(),
                Set.of(),
                Optional.empty(),
                Duration.ofMillis(100));
    }

    /** How long an event stays after it was published or discarded. */
    public RetentionOptions withEventsKept(Duration kept) {
        return new RetentionOptions(
                kept, messagesKept, archivesAll, archived, tombstoned, archiveKept, lockBound);
    }

    /** How long a message stays after it was processed; longer than any redelivery may come. */
    public RetentionOptions withMessagesKept(Duration kept) {
        return new RetentionOptions(
                eventsKept, kept, archivesAll, archived, tombstoned, archiveKept, lockBound);
    }

    /** Copies forgotten commands of these operations to the archive before they are removed. */
    public RetentionOptions archiving(String... operations) {
        return new RetentionOptions(
                eventsKept,
                messagesKept,
                archivesAll,
                with(archived, operations),
                tombstoned,
                archiveKept,
                lockBound);
    }

    /** Copies forgotten commands of every operation to the archive before they are removed. */
    public RetentionOptions archivingAll() {
        return new RetentionOptions(
                eventsKept, messagesKept, true, archived, tombstoned, archiveKept, lockBound);
    }

    /**
     * Drops the results of these operations once they have expired; key and hash stay, so that the
     * id is refused until it is forgotten. Needs the index of {@code tombstones.sql}, which lies
     * beside the schema's own SQL.
     */
    public RetentionOptions tombstoning(String... operations) {
        return new RetentionOptions(
                eventsKept,
                messagesKept,
                archivesAll,
                archived,
                with(tombstoned, operations),
                archiveKept,
                lockBound);
    }

    /** How long the archive keeps a row, whoever put it there. */
    public RetentionOptions withArchiveKept(Duration kept) {
        return new RetentionOptions(
                eventsKept,
                messagesKept,
                archivesAll,
                archived,
                tombstoned,
                Optional.of(kept),
                lockBound);
    }

    /** How long a chunk may hold its rows; its size follows from that. */
    public RetentionOptions withLockBound(Duration bound) {
        return new RetentionOptions(
                eventsKept,
                messagesKept,
                archivesAll,
                archived,
                tombstoned,
                archiveKept,
                Objects.requireNonNull(bound, "bound"));
    }

    private static Set<String> with(Set<String> before, String... operations) {
        if (operations.length == 0) {
            throw new IllegalArgumentException("Name at least one operation.");
        }
        Set<String> after = new HashSet<>(before);
        Arrays.stream(operations)
                .map(operation -> Names.require(operation, "operation", 128))
                .forEach(after::add);
        return after;
    }
}
