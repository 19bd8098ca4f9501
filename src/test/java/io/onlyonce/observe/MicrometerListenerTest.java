package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandScope;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.inbox.Advance;
import io.onlyonce.observe.MicrometerListener.Polled;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.PayloadHash;

import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The meters, as Prometheus sees them. */
class MicrometerListenerTest {

    private static final Pattern METER = Pattern.compile("\\bonlyonce_[a-z_]+");

    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final MicrometerListener listener = MicrometerListener.on(registry);

    private static ObservedCommand observed(
            String tenant, String caller, String operation, ObservedCommand.Decision decision) {
        return new ObservedCommand(
                new CommandScope(tenant, caller, operation),
                decision,
                Optional.of(Duration.ofMillis(2)),
                Optional.of(Duration.ofMillis(9)),
                3,
                1,
                OptionalInt.of(77),
                true);
    }

    private void touchAll() {
        for (ObservedCommand.Decision decision : ObservedCommand.Decision.values()) {
            listener.command(observed("t", "c", "deposit", decision));
        }
        listener.keyBudgetRefused(new CommandScope("t", "c", "deposit"));
        listener.eventsAppended(2, 1);
        listener.relayed(new ObservedRelay(5, 4, 3, 2, 1, 6));
        listener.message(
                new ObservedMessage("billing", "t", "s", ObservedMessage.Decision.DUPLICATE));
        listener.versionChecked("view", Advance.Kind.GAP);
        listener.purged("command_dedup", 1000);
        for (Polled polled : Polled.values()) {
            listener.polling(polled, () -> 42);
        }
        listener.pollingRecords("command_dedup", () -> 9L);
    }

    @Test
    void every_meter_has_its_name_and_counts() {
        touchAll();
        assertThat(registry.scrape().lines().filter(line -> !line.startsWith("#")))
                .contains(
                        "onlyonce_commands_total{operation=\"deposit\",outcome=\"in_flight\"} 1.0",
                        "onlyonce_claim_latency_seconds_count{operation=\"deposit\"} 8",
                        "onlyonce_run_latency_seconds_count{operation=\"deposit\"} 8",
                        "onlyonce_work_retries_total{operation=\"deposit\"} 24.0",
                        "onlyonce_commit_unknown_total{operation=\"deposit\"} 8.0",
                        "onlyonce_result_unreadable_total{operation=\"deposit\"} 8.0",
                        "onlyonce_result_bytes_sum{operation=\"deposit\"} 616.0",
                        "onlyonce_unresolved 42.0",
                        "onlyonce_records{table=\"command_dedup\"} 9.0",
                        "onlyonce_purged_total{table=\"command_dedup\"} 1000.0",
                        "onlyonce_purge_lag 42.0",
                        "onlyonce_outbox_appended_total 2.0",
                        "onlyonce_outbox_duplicate_total 1.0",
                        "onlyonce_outbox_published_total 5.0",
                        "onlyonce_outbox_failed_total 4.0",
                        "onlyonce_outbox_dead_total 3.0",
                        "onlyonce_outbox_backlog 42.0",
                        "onlyonce_outbox_lag 42.0",
                        "onlyonce_outbox_lease_lost_total 6.0",
                        "onlyonce_inbox_messages_total{consumer=\"billing\",outcome=\"duplicate\"}"
                                + " 1.0",
                        "onlyonce_guard_total{outcome=\"gap\",projection=\"view\"} 1.0",
                        "onlyonce_key_budget_refused_total{operation=\"deposit\"} 1.0");
    }

    @Test
    void labels_are_bounded_and_name_nobody_unless_asked() {
        for (int i = 0; i < 1_000; i++) {
            listener.command(
                    observed(
                            "tenant" + i, "caller" + i, "op" + i, ObservedCommand.Decision.FAILED));
        }
        String scrape = registry.scrape();
        assertThat(scrape).doesNotContain("tenant", "caller");
        assertThat(scrape)
                .contains("onlyonce_commands_total{operation=\"op199\",outcome=\"failed\"} 1.0")
                .contains("onlyonce_commands_total{operation=\"other\",outcome=\"failed\"} 800.0")
                .doesNotContain("op200");

        var asked = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        MicrometerListener.on(asked)
                .withTenants()
                .withCallers()
                .command(observed("acme", "teller", "deposit", ObservedCommand.Decision.FAILED));
        assertThat(asked.scrape())
                .contains(
                        "onlyonce_commands_total{caller=\"teller\",operation=\"deposit\",outcome=\"failed\",tenant=\"acme\"}"
                            + " 1.0");
    }

    @Test
    void a_gauge_that_fails_has_no_value_and_breaks_no_scrape() {
        listener.polling(
                Polled.UNRESOLVED,
                () -> {
                    throw new SQLException("no database");
                });
        listener.eventsAppended(1, 0);
        assertThat(registry.scrape())
                .contains("onlyonce_unresolved NaN")
                .contains("onlyonce_outbox_appended_total 1.0");
    }

    @Test
    void commands_fill_the_meters() throws Exception {
        try (var db = TestDatabase.postgres()) {
            Schema.apply(db.dataSource());
            var once =
                    OnlyOnce.on(db.pool(1))
                            .withTtl(Duration.ofDays(1))
                            .withListener(listener)
                            .build();
            var scope = new CommandScope("acme", "teller", "deposit");
            var command = Command.of(scope, Markers.MARK, PayloadHash.ofJson("{}"));
            for (int i = 0; i < 3; i++) {
                once.commands()
                        .run(
                                command,
                                String.class,
                                work -> {
                                    work.outbox()
                                            .append(
                                                    OutboxEvent.of(
                                                            Markers.MARK,
                                                            "A",
                                                            "a",
                                                            "E",
                                                            new byte[] {1}));
                                    return "receipt";
                                });
            }
        }
        assertThat(registry.scrape())
                .contains("onlyonce_commands_total{operation=\"deposit\",outcome=\"started\"} 1.0")
                .contains("onlyonce_commands_total{operation=\"deposit\",outcome=\"replayed\"} 2.0")
                .contains("onlyonce_result_bytes_sum{operation=\"deposit\"} 7.0")
                .contains("onlyonce_outbox_appended_total 1.0");
    }

    /** What a dashboard shows and an alert watches must be something that is measured. */
    @Test
    void dashboard_and_alerts_ask_for_meters_that_exist() throws Exception {
        touchAll();
        Set<String> known =
                METER.matcher(registry.scrape())
                        .results()
                        .map(MatchResult::group)
                        .collect(Collectors.toCollection(TreeSet::new));
        JsonNode dashboard =
                new ObjectMapper().readTree(Path.of("docs/operations/grafana.json").toFile());
        String queries =
                dashboard.findValuesAsText("expr").stream().collect(Collectors.joining("\n"));
        String alerts = Files.readString(Path.of("docs/operations/alerts.yml"));
        assertThat(meters(queries)).hasSizeGreaterThan(12);
        assertThat(meters(alerts)).hasSizeGreaterThan(8);
        assertThat(known).containsAll(meters(queries)).containsAll(meters(alerts));
        String doc = Files.readString(Path.of("docs/operations/metrics.md"));
        assertThat(known)
                .allSatisfy(
                        meter ->
                                assertThat(doc.replace('.', '_'))
                                        .contains(
                                                meter.replaceAll(
                                                        "(_seconds|_bytes)?(_total|_count|_sum"
                                                                + "|_max|_bucket)?$",
                                                        "")));
    }

    private static Set<String> meters(String text) {
        return METER.matcher(text)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Run by the child. */
    static final class WithoutMicrometer {
        public static void main(String[] args) throws Exception {
            boolean isThere = true;
            try {
                Class.forName("io.micrometer.core.instrument.MeterRegistry");
            } catch (ClassNotFoundException e) {
                isThere = false;
            }
            var told = new Told();
            try (var db = TestDatabase.h2()) {
                Schema.apply(db.dataSource());
                var once =
                        OnlyOnce.on(db.dataSource())
                                .withTtl(Duration.ofDays(1))
                                .withListener(told)
                                .build();
                var scope = new CommandScope("acme", "teller", "deposit");
                var command = Command.of(scope, Markers.MARK, PayloadHash.ofJson("{}"));
                once.commands().run(command, String.class, work -> "receipt");
            }
            System.out.println("there: " + isThere + ", told: " + told.all);
        }
    }

    @Test
    void without_micrometer_on_the_class_path_everything_else_works() throws Exception {
        try (var child = ChildJvm.startWithout("micrometer", WithoutMicrometer.class)) {
            assertThat(child.awaitLine("there: "))
                    .isEqualTo("there: false, told: [command STARTED]");
        }
    }
}
