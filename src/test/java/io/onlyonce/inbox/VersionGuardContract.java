package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Race;
import io.onlyonce.inbox.Advance.Kind;
import io.onlyonce.tx.TransactionRequiredException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;

/** What a projection's memory of versions promises on every database. */
abstract class VersionGuardContract extends DatabaseContract {

    private OnlyOnce once;
    private VersionGuard guard;

    VersionGuardContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openMailroom() throws Exception {
        Mailroom.open(db);
        once = Mailroom.once(db.pool(16));
        guard = once.versionGuard();
    }

    private Advance advance(VersionGuard guard, String id, long version) throws SQLException {
        return once.transactions()
                .execute(c -> guard.advance(c, "list", "acme", "Case", id, version));
    }

    @Test
    void strict_versions_follow_each_other() throws Exception {
        String id = Mailroom.id("strict");

        assertThat(advance(guard, id, 2)).isEqualTo(new Advance(Kind.GAP, 1));
        assertThat(advance(guard, id, 1)).isEqualTo(new Advance(Kind.APPLY, 2));
        assertThat(advance(guard, id, 1)).isEqualTo(new Advance(Kind.STALE, 2));
        assertThat(advance(guard, id, 3)).isEqualTo(new Advance(Kind.GAP, 2));
        assertThat(advance(guard, id, 2)).isEqualTo(new Advance(Kind.APPLY, 3));
        assertThat(advance(guard, id, 3)).isEqualTo(new Advance(Kind.APPLY, 4));
        assertThat(advance(guard, id, 2).kind()).isEqualTo(Kind.STALE);
        assertThat(advance(guard, id, 0).kind()).isEqualTo(Kind.STALE);
    }

    @Test
    void monotonic_versions_may_be_left_out_and_never_go_back() throws Exception {
        String id = Mailroom.id("monotonic");
        VersionGuard monotonic = guard.monotonic();

        assertThat(advance(monotonic, id, 5).kind()).isEqualTo(Kind.APPLY);
        assertThat(advance(monotonic, id, 4).kind()).isEqualTo(Kind.STALE);
        assertThat(advance(monotonic, id, 5).kind()).isEqualTo(Kind.STALE);
        assertThat(advance(monotonic, id, 9).kind()).isEqualTo(Kind.APPLY);
    }

    @Test
    void a_later_beginning_is_a_beginning() throws Exception {
        String id = Mailroom.id("later");
        VersionGuard from = guard.startingAt(10);

        assertThat(advance(from, id, 11)).isEqualTo(new Advance(Kind.GAP, 10));
        assertThat(advance(from, id, 9).kind()).isEqualTo(Kind.STALE);
        assertThat(advance(from, id, 10).isApply()).isTrue();
        assertThat(advance(from, id, 11).isApply()).isTrue();
        assertThatThrownBy(() -> guard.startingAt(0)).hasMessageContaining("at least 1");
    }

    @Test
    void projections_tenants_and_types_have_versions_of_their_own() throws Exception {
        String id = Mailroom.id("own");
        advance(guard, id, 1);

        boolean[] applies =
                once.transactions()
                        .execute(
                                c ->
                                        new boolean[] {
                                            guard.advance(c, "other", "acme", "Case", id, 1)
                                                    .isApply(),
                                            guard.advance(c, "list", "other", "Case", id, 1)
                                                    .isApply(),
                                            guard.advance(c, "list", "acme", "Other", id, 1)
                                                    .isApply()
                                        });

        assertThat(applies).containsExactly(true, true, true);
    }

    @Test
    void what_is_rolled_back_was_not_applied() throws Exception {
        String id = Mailroom.id("rolled-back");
        try (Connection connection = db.connect()) {
            connection.setAutoCommit(false);
            assertThat(guard.advance(connection, "list", "acme", "Case", id, 1).isApply()).isTrue();
            connection.rollback();
        }

        assertThat(advance(guard, id, 1).isApply()).isTrue();
    }

    @Test
    void of_many_that_bring_a_version_one_applies_it() throws Exception {
        String id = Mailroom.id("race");
        for (long version = 1; version <= 5; version++) {
            long next = version;

            List<Advance> answers = Race.of(12, () -> advance(guard, id, next));

            assertThat(answers).filteredOn(Advance::isApply).hasSize(1);
            assertThat(answers).allMatch(a -> a.isApply() || a.kind() == Kind.STALE);
        }
    }

    @Test
    void who_is_overtaken_is_never_told_to_wait_for_the_very_version_it_brings() throws Exception {
        String id = Mailroom.id("overtaken");
        int last = 200;
        Callable<Boolean> leads =
                () -> {
                    for (long version = 1; version <= last; version++) {
                        advance(guard, id, version);
                    }
                    return true;
                };
        Callable<Boolean> asks =
                () -> {
                    boolean makesSense = true;
                    long version = 1;
                    while (version <= last) {
                        Advance answer = advance(guard, id, version);
                        makesSense &= answer.kind() != Kind.GAP || answer.expected() < version;
                        version = answer.expected() + 1; // always one ahead of what is next
                    }
                    return makesSense;
                };

        assertThat(Race.of(List.of(leads, asks, asks, asks))).containsOnly(true);
    }

    @Test
    void whoever_resets_a_projection_in_the_middle_makes_nobody_count_what_is_not_stored()
            throws Exception {
        String id = Mailroom.id("reset");
        Callable<Integer> follow =
                () -> {
                    int applied = 0;
                    for (int i = 0; i < 150; i++) {
                        applied += count(advanceAll(step(id, 1)));
                    }
                    return applied;
                };
        Callable<Integer> reset =
                () -> {
                    int known = 0;
                    for (int i = 0; i < 150; i++) {
                        known +=
                                once.transactions()
                                                .<Boolean, SQLException>execute(
                                                        c -> hasApplied(c, id) && forget(c, id))
                                        ? 1
                                        : 0;
                    }
                    return -known;
                };

        int left = Race.of(List.of(follow, follow, reset)).stream().mapToInt(n -> n).sum();

        long stored =
                db.count(
                        "SELECT count(*) FROM onlyonce.projection_version WHERE version = 1 AND"
                                + " aggregate_id = '"
                                + id
                                + "'");
        assertThat(left).as("applied and not reset").isEqualTo((int) stored);
    }

    /** Locks the row, if it is there. */
    private static boolean hasApplied(Connection connection, String id) throws SQLException {
        try (var select =
                connection.prepareStatement(
                        "SELECT version FROM onlyonce.projection_version WHERE aggregate_id = ? FOR"
                                + " UPDATE")) {
            select.setString(1, id);
            try (var row = select.executeQuery()) {
                return row.next() && row.getLong("version") == 1;
            }
        }
    }

    private boolean forget(Connection connection, String id) throws SQLException {
        return guard.reset(connection, "list", "acme", "Case", id);
    }

    @Test
    void a_batch_answers_as_if_one_came_after_the_other() throws Exception {
        String a = Mailroom.id("a");
        String b = Mailroom.id("b");

        List<Advance> answers =
                advanceAll(step(a, 1), step(b, 2), step(a, 3), step(a, 2), step(a, 1));

        assertThat(answers)
                .extracting(Advance::kind)
                .containsExactly(Kind.APPLY, Kind.GAP, Kind.GAP, Kind.APPLY, Kind.STALE);
        assertThat(answers).extracting(Advance::expected).containsExactly(2L, 1L, 2L, 3L, 3L);
        assertThat(advance(guard, a, 3).isApply()).isTrue();
        assertThat(advance(guard, b, 1).isApply()).isTrue();
        assertThat(advanceAll()).isEmpty();
    }

    @Test
    void a_batch_of_monotonic_versions_never_goes_back() throws Exception {
        String id = Mailroom.id("monotonic");
        VersionGuard from = guard.monotonic().startingAt(3);

        List<Advance> answers =
                once.transactions()
                        .execute(
                                c ->
                                        from.advanceAll(
                                                c,
                                                "list",
                                                List.of(
                                                        step(id, 2),
                                                        step(id, 3),
                                                        step(id, 9),
                                                        step(id, 9),
                                                        step(id, 8))));

        assertThat(answers)
                .extracting(Advance::kind)
                .containsExactly(Kind.STALE, Kind.APPLY, Kind.APPLY, Kind.STALE, Kind.STALE);
    }

    @Test
    void batches_at_once_apply_each_version_once() throws Exception {
        String a = Mailroom.id("a");
        String b = Mailroom.id("b");

        List<Integer> applied =
                Race.of(
                        List.of(
                                () -> count(advanceAll(step(a, 1), step(b, 1))),
                                () -> count(advanceAll(step(b, 1), step(a, 1))),
                                () -> count(advanceAll(step(a, 1), step(b, 1)))));

        assertThat(applied.stream().mapToInt(n -> n).sum()).isEqualTo(2);
    }

    private static int count(List<Advance> answers) {
        return (int) answers.stream().filter(Advance::isApply).count();
    }

    private static VersionGuard.Step step(String id, long version) {
        return new VersionGuard.Step("acme", "Case", id, version);
    }

    private List<Advance> advanceAll(VersionGuard.Step... steps) throws SQLException {
        return once.transactions().execute(c -> guard.advanceAll(c, "list", List.of(steps)));
    }

    @Test
    void a_projection_can_be_built_anew() throws Exception {
        String id = Mailroom.id("anew");
        once.transactions().execute(c -> guard.advance(c, "anew", "acme", "Case", id, 1));
        advance(guard, id, 1);

        assertThat(once.transactions().<Integer, SQLException>execute(c -> guard.reset(c, "anew")))
                .isEqualTo(1);
        assertThat(advance(guard, id, 1).kind()).isEqualTo(Kind.STALE);
        assertThat(
                        once.transactions()
                                .<Boolean, SQLException>execute(
                                        c -> guard.reset(c, "list", "acme", "Case", id)))
                .isTrue();
        assertThat(advance(guard, id, 1).isApply()).isTrue();
    }

    @Test
    void outside_a_transaction_it_refuses() throws Exception {
        try (Connection connection = db.connect()) {
            assertThatThrownBy(() -> guard.advance(connection, "list", "acme", "Case", "x", 1))
                    .isInstanceOf(TransactionRequiredException.class);
            assertThatThrownBy(() -> guard.advanceAll(connection, "list", List.of(step("x", 1))))
                    .isInstanceOf(TransactionRequiredException.class);
            assertThatThrownBy(() -> guard.reset(connection, "list"))
                    .isInstanceOf(TransactionRequiredException.class);
            assertThatThrownBy(() -> guard.reset(connection, "list", "acme", "Case", "x"))
                    .isInstanceOf(TransactionRequiredException.class);
            assertThatThrownBy(() -> guard.advance(connection, "", "acme", "Case", "x", 1))
                    .hasMessageContaining("projection");
        }
    }
}
