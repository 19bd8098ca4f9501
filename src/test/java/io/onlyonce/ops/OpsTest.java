package io.onlyonce.ops;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.json.JsonMapper;

import io.onlyonce.Schema;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The operator's tool, as the documentation shows it. */
class OpsTest {

    private static final Path DOC = Path.of("docs/operations/tool.md");
    private static final Pattern SHOWN =
            Pattern.compile("\\$ \\./gradlew -q ops -Pargs=\"([^\"]+)\"\n((?:(?!```|\\$ ).*\n)*)");

    /** A bad day of January, at times that never change. */
    private static final String BAD_DAY =
            """
            INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status, hash_version, command_id,
                operation, caller, tenant, payload_hash, content_tag, result, resource_type, resource_id)
            SELECT t, CASE s WHEN 1 THEN t END, 'infinity', CASE s WHEN 1 THEN t + interval '1 day' ELSE '-infinity' END, s, 1, id,
                'account.deposit', 'checkout', 'acme', decode(repeat('00', 32), 'hex'), CASE s WHEN 1 THEN 'json' END,
                CASE s WHEN 1 THEN '1'::bytea END, 'Account', 'a-17'
            FROM (VALUES (0, 'order-4711', timestamptz '2026-01-02 03:04:05Z'), (1, 'order-1', '2026-01-01 01:00:00Z'),
                (1, 'order-2', '2026-01-01 02:00:00Z'), (1, 'order-3', '2026-01-01 03:00:00Z')) AS v (s, id, t);
            INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at, forget_at, status, hash_version, command_id,
                operation, caller, tenant, payload_hash)
            SELECT now(), now(), 'infinity', 'infinity', 1, 1, 'click-' || n, 'account.deposit', CASE n WHEN 1 THEN 'web' ELSE 'mobile' END,
                'acme', decode(repeat('00', 32), 'hex') FROM generate_series(1, 4) AS n;
            INSERT INTO onlyonce.inbox_message (received_at, processed_at, status, hash_version, message_id, source, consumer,
                tenant, payload_hash)
            VALUES ('2026-01-02 03:05:00Z', '-infinity', 0, 1, 'm-9', 'orders', 'billing', 'acme', decode(repeat('00', 32), 'hex')),
                ('2026-01-02 03:05:00Z', '2026-01-02 03:05:00Z', 1, 1, 'm-8', 'orders', 'billing', 'acme', decode(repeat('00', 32), 'hex'));
            INSERT INTO onlyonce.outbox_event (created_at, settled_at, event_id, bucket, state, event_key, tenant,
                aggregate_type, aggregate_id, event_type, payload, last_error)
            SELECT '2026-01-02 03:06:00Z', CASE state WHEN 1 THEN timestamptz '2026-01-02 03:06:01Z' END, gen_random_uuid(), 5, state,
                key, 'acme', 'Account', aggregate, 'Deposited', '', CASE state WHEN 2 THEN 'broker: message too large' END
            FROM (VALUES (1, 'deposited:order-1', 'a-17'), (1, 'deposited:order-2', 'a-17'), (2, 'deposited:order-4712', 'a-18'),
                (3, 'deposited:order-4713', 'a-18'), (3, 'deposited:order-4714', 'a-18'), (0, 'deposited:order-4715', 'a-19'))
                AS v (state, key, aggregate);
            INSERT INTO onlyonce.outbox_blocked (blocked_at, blocked_until, bucket, others_wait, aggregate_id, aggregate_type, tenant)
            VALUES ('2026-01-02 03:07:00Z', 'infinity', 5, true, 'a-18', 'Account', 'acme')
            """;

    private TestDatabase db;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @BeforeEach
    void open() throws Exception {
        db = TestDatabase.postgres();
        Schema.apply(db.dataSource());
        db.execute(BAD_DAY);
    }

    @AfterEach
    void close() throws Exception {
        db.close();
    }

    private int ops(String args) {
        out.reset();
        err.reset();
        Map<String, String> environment =
                Map.of(
                        "ONLYONCE_URL", db.url(),
                        "ONLYONCE_USER", db.user(),
                        "ONLYONCE_PASSWORD", db.password());
        return Ops.run(
                Stream.of(args.split(" ")).filter(arg -> !arg.isEmpty()).toList(),
                environment,
                new PrintStream(out, true, UTF_8),
                new PrintStream(err, true, UTF_8));
    }

    private String printed() {
        return out.toString(UTF_8);
    }

    @Test
    void the_documentation_shows_what_each_command_prints() throws Exception {
        var shown = SHOWN.matcher(Files.readString(DOC)).results().toList();
        for (var each : shown) {
            assertThat(ops(each.group(1))).as(each.group(1) + err.toString(UTF_8)).isZero();
            if (each.group(1).equals("sizes")) { // numbers are the server's
                assertThat(unnumbered(printed())).isEqualTo(unnumbered(each.group(2)));
            } else {
                assertThat(printed()).as(each.group(1)).isEqualTo(each.group(2));
            }
        }
        assertThat(shown)
                .extracting(each -> each.group(1).split(" ")[0])
                .contains(
                        "status",
                        "stuck",
                        "callers",
                        "sizes",
                        "resolve",
                        "dead-letters",
                        "requeue",
                        "purge");
    }

    /** Words, sorted: on a small table the order by size is the server's too. */
    private static List<String> unnumbered(String text) {
        return text.lines().map(line -> line.replaceAll("[ 0-9]+", " ").strip()).sorted().toList();
    }

    @Test
    void what_it_says_is_what_it_did() throws Exception {
        assertThat(
                        ops(
                                "resolve --tenant acme --caller checkout --operation"
                                    + " account.deposit --id order-4711 --released --who ann --why"
                                    + " no such booking"))
                .isZero();
        assertThat(db.value("SELECT resolved_why FROM onlyonce.command_archive", String.class))
                .contains("no such booking");
        assertThat(ops("requeue --all")).isZero();
        assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_event WHERE state = 2")).isZero();
        assertThat(ops("purge --dry-run --json")).isZero();
        assertThat(db.count("SELECT count(*) FROM onlyonce.command_dedup")).isEqualTo(7);
        assertThat(ops("purge")).isZero();
        assertThat(db.count("SELECT count(*) FROM onlyonce.command_dedup")).isEqualTo(4);
        assertThat(db.count("SELECT count(*) FROM onlyonce.inbox_message")).isEqualTo(1);
        assertThat(db.count("SELECT count(*) FROM onlyonce.outbox_event WHERE state = 1")).isZero();
    }

    @Test
    void json_is_one_object_per_line_for_every_question() throws Exception {
        for (String command :
                List.of("status", "stuck", "dead-letters", "sizes", "purge --dry-run")) {
            assertThat(ops(command + " --json")).isZero();
            assertThat(printed().lines()).isNotEmpty();
            for (String line : printed().lines().toList()) {
                assertThat(new JsonMapper().readTree(line).isObject()).isTrue();
            }
        }
    }

    @Test
    void what_cannot_be_done_is_said_and_has_an_exit_code() throws Exception {
        assertThat(ops("")).isEqualTo(2);
        assertThat(ops("dance")).isEqualTo(2);
        assertThat(err.toString(UTF_8)).contains("dead-letters");
        assertThat(ops("resolve --tenant acme")).isEqualTo(2);
        assertThat(ops("purge --deadline soon")).isEqualTo(2);
        assertThat(ops("stuck --limit many")).isEqualTo(2);
        assertThat(ops("requeue --tenant acme --key unknown")).isEqualTo(1);
        assertThat(
                        ops(
                                "resolve --tenant acme --caller checkout --operation"
                                    + " account.deposit --id order-1 --completed --who ann --why"
                                    + " because"))
                .isEqualTo(1);
        assertThat(ops("status --schema nowhere")).isEqualTo(1);
        assertThat(err.toString(UTF_8)).contains("nowhere");
        assertThat(ops("status --url jdbc:postgresql://localhost:1/x")).isEqualTo(1);
        assertThat(db.count("SELECT count(*) FROM onlyonce.command_dedup")).isEqualTo(8);
    }

    @Test
    void long_work_says_every_second_how_far_it_is_and_keeps_its_answer_clean() throws Exception {
        db.execute(
                """
                INSERT INTO onlyonce.outbox_event (event_id, bucket, state, event_key, tenant, aggregate_type, aggregate_id,
                    event_type, payload)
                SELECT gen_random_uuid(), 5, 2, 'slow-' || n, 'acme', 'Account', 'a-' || n, 'Deposited', ''
                FROM generate_series(1, 120) AS n;
                CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM pg_sleep(0.012);
                    RETURN NEW;
                END $$;
                CREATE TRIGGER slow BEFORE UPDATE ON onlyonce.outbox_event FOR EACH ROW EXECUTE FUNCTION slow()\
                """);

        assertThat(ops("requeue --all --json")).isZero();

        assertThat(err.toString(UTF_8)).contains("requeued 100 events");
        assertThat(printed().lines()).containsExactly("{\"requeued\":121}");
    }

    @Test
    void a_purge_that_ran_out_of_time_is_not_called_done() {
        assertThat(ops("purge --deadline 0s")).isEqualTo(1);
        assertThat(err.toString(UTF_8)).contains("DEADLINE");
    }
}
