package io.onlyonce.compare;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.PostgresServer;
import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Every comparison once, so that none can rot; only what is counted is asserted, never a time. */
class BriefTest {

    private static final List<Report.Content> FOUND = new ArrayList<>();

    @BeforeAll
    static void run_all_comparisons() throws Exception {
        for (String name : Compare.KNOWN.keySet()) {
            try (var ground = Ground.on(PostgresServer.shared())) {
                FOUND.add(Compare.run(ground, name, Effort.brief()).content());
            }
        }
    }

    @Test
    void a_fresh_command_adds_one_round_trip() {
        assertThat(median("fresh", "round trips", "bare")).isEqualTo(3);
        assertThat(median("fresh", "round trips", "OnlyOnce")).isEqualTo(4);
        assertThat(median("fresh", "round trips", "OnlyOnce, SERIALIZABLE")).isEqualTo(4);
        assertThat(median("fresh", "round trips", "textbook")).isEqualTo(6);
    }

    @Test
    void a_fresh_command_is_one_row_version() {
        assertThat(median("fresh", "row versions", "OnlyOnce")).isEqualTo(1);
        assertThat(median("fresh", "dead row versions", "OnlyOnce")).isZero();
        assertThat(median("fresh", "row versions", "OnlyOnce, SERIALIZABLE")).isEqualTo(2);
        assertThat(median("fresh", "row versions", "textbook")).isEqualTo(2);
    }

    @Test
    void a_replay_is_two_round_trips_and_one_with_the_hint() {
        assertThat(median("replay", "replay, round trips", "OnlyOnce")).isEqualTo(2);
        assertThat(median("replay", "replay, round trips", "OnlyOnce, likely a retry"))
                .isEqualTo(1);
        assertThat(median("replay", "replay, round trips", "textbook")).isEqualTo(3);
    }

    @Test
    void order_is_kept_by_four_relays() {
        assertThat(median("order", "% out of order, 4 relays", "OnlyOnce, KEEP")).isZero();
    }

    @Test
    void a_batch_of_messages_is_two_round_trips() {
        assertThat(median("inbox", "round trips, fresh", "a batch of 100")).isEqualTo(2);
    }

    @Test
    void every_goal_names_a_measure_that_a_comparison_takes() {
        assertThat(Goal.ALL)
                .filteredOn(goal -> !goal.variant().equals("SERIALIZABLE, 200,000 rows"))
                .allSatisfy(
                        goal ->
                                assertThat(find(goal.comparison(), goal.measure(), goal.variant()))
                                        .as(goal.says())
                                        .isPresent());
    }

    @Test
    void the_hand_written_best_sends_the_statements_of_the_library() throws Exception {
        assertThat(sent(HandWritten::new))
                .isEqualTo(sent(pool -> new Ours(pool, RunOptions.standard())));
    }

    private static List<List<String>> sent(Variant.Maker maker) throws Exception {
        try (var ground = Ground.on(PostgresServer.shared());
                var proxy = ground.proxy();
                var pool = ground.poolThrough(proxy, Isolation.READ_COMMITTED)) {
            Variant variant = maker.on(pool);
            variant.run(Business.id(), 1);
            proxy.resetCounters();
            variant.run(Business.id(), 1);
            return proxy.flights().stream()
                    .map(flight -> flight.stream().map(BriefTest::words).toList())
                    .toList();
        }
    }

    private static String words(String sql) {
        return sql.replaceAll("\\s+", " ");
    }

    @Test
    void every_benchmark_runs() throws Exception {
        System.setProperty("jmh.ignoreLock", "true"); // nothing is timed here
        var results =
                new Runner(
                                new OptionsBuilder()
                                        .include("io.onlyonce.compare")
                                        .forks(0)
                                        .mode(Mode.SingleShotTime)
                                        .warmupIterations(0)
                                        .measurementIterations(1)
                                        .param("ids", "1")
                                        .param("events", "1", "10")
                                        .param("rows", "600")
                                        .shouldFailOnError(true)
                                        .build())
                        .run();

        assertThat(results)
                .extracting(
                        each -> each.getParams().getBenchmark().replaceAll(".*[.](.*)[.].*", "$1"))
                .contains(
                        "FreshBenchmark",
                        "KnownBenchmark",
                        "ContentionBenchmark",
                        "AppendBenchmark",
                        "InboxBenchmark",
                        "HashBenchmark",
                        "DrainBenchmark");
    }

    private static double median(String comparison, String measure, String variant) {
        return find(comparison, measure, variant).orElseThrow().median();
    }

    private static Optional<Spread> find(String comparison, String measure, String variant) {
        return new Results("now", FOUND).value(comparison, measure, variant);
    }

    @Test
    void the_page_says_which_goals_are_met() {
        String page =
                new Page(List.of(new Results("now", FOUND)))
                        .fill("a\n<!-- generated: goals -->\nold\n<!-- end -->\nz\n");

        assertThat(page).startsWith("a\n").endsWith("<!-- end -->\nz\n").doesNotContain("old");
        assertThat(page)
                .contains("| round trips added to bare | \u2264 1 | 1, n = 20 | met |")
                .contains("| not measured |");
        assertThat(page.lines().filter(line -> Stream.of("met", "missed").anyMatch(line::contains)))
                .hasSize(Goal.ALL.size() - 1);
    }
}
