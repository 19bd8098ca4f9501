package io.onlyonce.compare;

import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.RunOptions;
import io.onlyonce.tx.Isolation;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

/**
 * What happens to unrelated commands while one command in flight is repeated by many: their
 * throughput with that pressure against the same without it, window beside window.
 */
final class Pressure implements Compare.Comparison {

    private static final int POOL = 10;
    private static final Duration WINDOW = Duration.ofSeconds(2);

    /** Longer than any window: the window's end ends it. */
    private static final Duration WHOLE = Duration.ofMinutes(1);

    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration POLITE = Duration.ofMillis(50);

    /** One kind of pressure and what came of it. */
    private record Case(
            String name, Variant unrelated, Variant repeated, Duration held, Results results) {

        Case(String name, Variant unrelated, Variant repeated, Duration held) {
            this(name, unrelated, repeated, held, new Results());
        }
    }

    private static final class Results {
        private final List<Double> kept = new ArrayList<>();
        private final List<Double> pressed = new ArrayList<>();
    }

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        try (var pool = ground.pool(POOL, Isolation.READ_COMMITTED)) {
            List<Case> cases = cases(pool);
            report.progress("warming up");
            for (Case each : cases) {
                quiet(each, effort.of(SHORT));
                pressed(each, effort.of(SHORT));
            }
            for (int round = 1; round <= effort.rounds(); round++) {
                for (Case each : cases) {
                    measure(each, round, report, effort.of(WINDOW));
                }
            }
            tell(cases, report);
        }
    }

    private static List<Case> cases(DataSource pool) throws SQLException {
        RunOptions standard = RunOptions.standard();
        var ours = new Ours(pool, standard);
        var failFast = ours.with(standard.withInFlight(InFlightPolicy.failFast()));
        var textbook = new Textbook(pool);
        return List.of(
                new Case("OnlyOnce, default policy", ours, patient(ours), WHOLE),
                new Case("textbook", textbook, textbook, WHOLE),
                new Case("OnlyOnce, fail fast, again after 50 ms", ours, polite(failFast), WHOLE),
                new Case("OnlyOnce, fail fast, again at once", ours, patient(failFast), WHOLE),
                new Case("any BEGIN, SELECT 1, ROLLBACK, at once", ours, trivial(pool), WHOLE),
                new Case("OnlyOnce, default, winner takes 200 ms", ours, patient(ours), SHORT),
                new Case("textbook, winner takes 200 ms", textbook, textbook, SHORT));
    }

    private static Variant patient(Variant ours) {
        return (id, account, inside) -> {
            try {
                ours.run(id, account, inside);
            } catch (CommandInFlightException e) {
                // the answer that a repeated command in flight gets
            }
        };
    }

    private static Variant polite(Variant ours) {
        Variant patient = patient(ours);
        return (id, account, inside) -> {
            patient.run(id, account, inside);
            pause(POLITE);
        };
    }

    /** The yardstick for callers without a pause: what as many of any other would take away. */
    private static Variant trivial(DataSource pool) {
        return (id, account, inside) -> {
            try (var connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                try (var select = connection.prepareStatement("SELECT 1")) {
                    select.execute();
                }
                connection.rollback();
            }
        };
    }

    private static void measure(Case each, int round, Report report, Duration length)
            throws Exception {
        boolean pressedFirst = round % 2 == 0;
        Window early = pressedFirst ? pressed(each, length) : quiet(each, length);
        Window late = pressedFirst ? quiet(each, length) : pressed(each, length);
        Window quiet = pressedFirst ? late : early;
        Window pressed = pressedFirst ? early : late;
        Results results = each.results();
        results.kept.add((double) pressed.done() / Math.max(1, quiet.done()));
        results.pressed.add((double) pressed.done());
        report.progress(
                "round %d, %s: %d commands, with pressure %d (repetitions answered: %d)"
                        .formatted(
                                round,
                                each.name(),
                                quiet.done(),
                                pressed.done(),
                                pressed.answered()));
    }

    private static Window quiet(Case each, Duration length) throws Exception {
        return new Window(each.unrelated(), length).run();
    }

    private static Window pressed(Case each, Duration length) throws Exception {
        // In flight, and repeated, by the method under test; the yardstick has a winner of ours.
        Variant winner = each.unrelated();
        return new Window(each.unrelated(), length)
                .under(winner, each.repeated(), each.held())
                .run();
    }

    private static void tell(List<Case> cases, Report report) {
        for (Case each : cases) {
            report.add(
                    "unrelated throughput kept",
                    each.name(),
                    Spread.of(each.results().kept),
                    each.name().equals("OnlyOnce, default policy") ? "goal: 0.85 or more" : "");
        }
        tellAgainst(cases.get(0), cases.get(1), report);
        tellAgainst(cases.get(5), cases.get(6), report);
    }

    /** Window by window of the same round; a window of the textbook without any counts as one. */
    private static void tellAgainst(Case ours, Case textbook, Report report) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.results().pressed.size(); i++) {
            ratios.add(
                    ours.results().pressed.get(i) / Math.max(1, textbook.results().pressed.get(i)));
        }
        report.add(
                "under pressure, against textbook",
                ours.name(),
                Spread.of(ratios),
                "goal: 10 or more");
    }

    static void pause(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
