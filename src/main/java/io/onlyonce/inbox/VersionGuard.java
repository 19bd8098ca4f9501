package io.onlyonce.inbox;

import io.onlyonce.inbox.VersionStore.Aggregate;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.Names;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.Transaction;
import io.onlyonce.tx.TransactionRequiredException;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Remembers how far a projection has followed each aggregate, so that old news changes nothing and
 * nothing is skipped. The memory is part of the caller's transaction: what is rolled back was not
 * applied. Two transactions that advance the same aggregate go one after the other.
 *
 * <p>Strict as it comes: each version must follow the one before it. Inside {@link Inbox#process} a
 * {@code GAP} rolls everything back and ends as {@link InboxAnswer.Deferred}, whatever the work
 * does next. Thread-safe; immutable.
 */
public final class VersionGuard {

    private final VersionStore store;
    private final Observer observer;
    private final boolean strict;
    private final long first;

    private VersionGuard(VersionStore store, Observer observer, boolean strict, long first) {
        this.store = store;
        this.observer = observer;
        this.strict = strict;
        this.first = first;
    }

    /** Made by {@code OnlyOnce}. */
    @SuppressWarnings("exports") // only the library itself can name a CommandSetup
    public static VersionGuard of(CommandSetup setup) {
        return new VersionGuard(VersionStore.of(setup), setup.observer(), true, 1);
    }

    /** Versions may be left out, and never go back: {@code APPLY} or {@code STALE}, no gaps. */
    public VersionGuard monotonic() {
        return new VersionGuard(store, observer, false, first);
    }

    /**
     * The version that a new aggregate begins with, 1 or more; 1 unless this says otherwise. Below
     * it all is {@code STALE}, so of a source that counts from 0 pass the version plus one.
     */
    public VersionGuard startingAt(long first) {
        if (first < 1) {
            throw new IllegalArgumentException("The first version must be at least 1.");
        }
        return new VersionGuard(store, observer, strict, first);
    }

    /**
     * An aggregate's version, as an event tells it.
     *
     * @param tenant 1 to 128 characters
     * @param aggregateType 1 to 128 characters
     * @param aggregateId 1 to 255 characters
     */
    public record Step(String tenant, String aggregateType, String aggregateId, long version) {

        /** Refuses what could not be stored, with a sentence. */
        public Step {
            Names.require(tenant, "tenant", 128);
            Names.require(aggregateType, "aggregate type", 128);
            Names.require(aggregateId, "aggregate id", 255);
        }
    }

    /**
     * Says whether this version is to be applied, and if so counts it as applied, in one round trip
     * and in the caller's transaction. Fails with 40001 if the projection is reset in this moment.
     *
     * @param projection what follows the aggregates, 1 to 128 characters
     * @throws TransactionRequiredException if the connection is in autocommit mode
     */
    public Advance advance(
            Connection connection,
            String projection,
            String tenant,
            String aggregateType,
            String aggregateId,
            long version)
            throws SQLException {
        var step = new Step(tenant, aggregateType, aggregateId, version);
        check(connection, projection);
        try {
            VersionStore.Followed followed;
            do {
                followed = store.follow(connection, of(projection), step);
            } while (!followed.applied() && isNext(followed.version(), version)); // overtaken
            return told(
                    connection,
                    projection,
                    answer(connection, followed.applied(), followed.version(), version));
        } catch (SQLException e) {
            throw store.explained(e);
        }
    }

    /**
     * The same for many, as if one after the other, in two round trips. Different transactions may
     * bring the same aggregates in any order.
     */
    public List<Advance> advanceAll(Connection connection, String projection, List<Step> steps)
            throws SQLException {
        check(connection, projection);
        if (steps.isEmpty()) {
            return List.of();
        }
        try {
            Map<Aggregate, Long> versions =
                    store.lock(
                            connection, of(projection), steps.stream().map(Aggregate::of).toList());
            Map<Aggregate, Long> changed = new LinkedHashMap<>();
            List<Advance> answers = new ArrayList<>();
            for (Step step : steps) {
                var aggregate = Aggregate.of(step);
                long current =
                        changed.getOrDefault(
                                aggregate, versions.getOrDefault(aggregate, first - 1));
                boolean isNext = isNext(current, step.version());
                if (isNext) {
                    changed.put(aggregate, step.version());
                }
                answers.add(
                        answer(
                                connection,
                                isNext,
                                isNext ? step.version() : current,
                                step.version()));
            }
            store.write(connection, projection, changed);
            answers.forEach(answer -> told(connection, projection, answer));
            return answers;
        } catch (SQLException e) {
            throw store.explained(e);
        }
    }

    /** Forgets how far a projection has come, to build it anew; returns how many aggregates. */
    public int reset(Connection connection, String projection) throws SQLException {
        check(connection, projection);
        try {
            return store.forget(connection, projection);
        } catch (SQLException e) {
            throw store.explained(e);
        }
    }

    /** The same for one aggregate; true if anything was known of it. */
    public boolean reset(
            Connection connection,
            String projection,
            String tenant,
            String aggregateType,
            String aggregateId)
            throws SQLException {
        var step = new Step(tenant, aggregateType, aggregateId, 0);
        check(connection, projection);
        try {
            return store.forget(connection, projection, Aggregate.of(step));
        } catch (SQLException e) {
            throw store.explained(e);
        }
    }

    private VersionStore.Rule of(String projection) {
        return new VersionStore.Rule(projection, strict, first);
    }

    private static void check(Connection connection, String projection) throws SQLException {
        Names.require(projection, "projection", 128);
        if (connection.getAutoCommit()) {
            throw new TransactionRequiredException();
        }
    }

    private Advance told(Connection connection, String projection, Advance answer) {
        observer.tell(
                connection,
                answer.kind() == Advance.Kind.GAP,
                listener -> listener.versionChecked(projection, answer.kind()));
        return answer;
    }

    private boolean isNext(long current, long version) {
        return strict ? version == current + 1 : version > current;
    }

    private static Advance answer(
            Connection connection, boolean applied, long current, long version) {
        if (applied) {
            return new Advance(Advance.Kind.APPLY, current + 1);
        }
        if (version <= current) {
            return new Advance(Advance.Kind.STALE, current + 1);
        }
        Transaction.noteGap(connection, current + 1);
        return new Advance(Advance.Kind.GAP, current + 1);
    }
}
