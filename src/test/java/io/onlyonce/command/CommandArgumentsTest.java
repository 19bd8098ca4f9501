package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.SchemaOutdatedException;
import io.onlyonce.ground.TestDatabase;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.UnsupportedHashVersionException;
import io.onlyonce.sql.SchemaName;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.TreeSet;
import java.util.UUID;

/** Bad input is refused with a sentence, before the database is touched. */
class CommandArgumentsTest {

    private static final PayloadHash HASH = PayloadHash.ofJson("{}");

    @ParameterizedTest
    @ValueSource(strings = {"", " ", " a", "a ", "a\tb", "a\nb", "a\0b", "ä", "\u007f", "\ud800"})
    void ids_and_scopes_that_are_not_plain_text_are_refused(String text) {
        assertThatThrownBy(() -> Command.of(Bank.SCOPE, text, HASH))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("command id must");
        assertThatThrownBy(() -> new CommandScope(text, "c", "o"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("tenant must");
        assertThatThrownBy(() -> new CommandScope("t", text, "o"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("caller must");
        assertThatThrownBy(() -> new CommandScope("t", "c", text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("operation must");
        assertThatThrownBy(() -> new Rejection(text, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rejection code must");
    }

    @Test
    void lengths_are_those_of_the_columns() {
        assertThat(Command.of(Bank.SCOPE, "x".repeat(255), HASH).id()).hasSize(255);
        assertThat(Command.of(Bank.SCOPE, "a b~!", HASH).id()).isEqualTo("a b~!");
        assertThat(new CommandScope("t".repeat(128), "c".repeat(128), "o".repeat(128))).isNotNull();
        assertThatThrownBy(() -> Command.of(Bank.SCOPE, "x".repeat(256), HASH))
                .hasMessageContaining("1 to 255 characters")
                .hasMessageContaining("256");
        assertThatThrownBy(() -> new CommandScope("t".repeat(129), "c", "o"))
                .hasMessageContaining("1 to 128 characters");
        assertThatThrownBy(() -> Bank.command("a").about("T", "i".repeat(256)))
                .hasMessageContaining("resource id must");
        assertThatThrownBy(() -> Bank.command("a").about("", "i"))
                .hasMessageContaining("resource type must");
    }

    @Test
    void times_to_live_must_be_positive_and_bounded() {
        Command command = Bank.command("a");
        for (Duration ttl :
                new Duration[] {Duration.ZERO, Duration.ofDays(-1), Duration.ofDays(36_501)}) {
            assertThatThrownBy(() -> command.withTtl(ttl))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("withoutExpiry()");
        }
        assertThatThrownBy(() -> command.withTtl(Duration.ofDays(1), Duration.ofDays(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("refusedFor");
    }

    @Test
    void a_saga_step_is_a_command_of_the_saga() {
        assertThat(Command.sagaStep(Bank.SCOPE, "saga:7", "reserve-seat.1", HASH).id())
                .isEqualTo("saga:7:reserve-seat.1");
        for (String step : new String[] {"", "A", "a:b", "a b", "x".repeat(65)}) {
            assertThatThrownBy(() -> Command.sagaStep(Bank.SCOPE, "saga", step, HASH))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("saga step");
        }
        assertThatThrownBy(() -> Command.sagaStep(Bank.SCOPE, "", "a", HASH))
                .hasMessageContaining("saga id must");
        assertThatThrownBy(() -> Command.sagaStep(Bank.SCOPE, "x".repeat(255), "a", HASH))
                .hasMessageContaining("command id must");
    }

    @Test
    void made_ids_are_unique_time_ordered_uuids_of_version_7() {
        var ids = new TreeSet<String>();
        String last = "";
        for (int i = 0; i < 10_000; i++) {
            String id = CommandIds.next();
            assertThat(UUID.fromString(id).version()).isEqualTo(7);
            assertThat(UUID.fromString(id).variant()).isEqualTo(2);
            assertThat(id.substring(0, 13)).isGreaterThanOrEqualTo(last);
            last = id.substring(0, 13);
            ids.add(id);
        }
        assertThat(ids).hasSize(10_000);
        long millis = UUID.fromString(ids.last()).getMostSignificantBits() >>> 16;
        assertThat(Math.abs(System.currentTimeMillis() - millis)).isLessThan(60_000);
    }

    @Test
    void the_lock_key_is_the_same_in_every_release() {
        var scope = new CommandScope("acme", "checkout", "case.approve");
        assertThat(NewRow.lockKey(SchemaName.DEFAULT, scope, "c-1")).isEqualTo(GOLDEN_KEY);
        assertThat(NewRow.lockKey(new SchemaName("other"), scope, "c-1")).isNotEqualTo(GOLDEN_KEY);
        assertThat(
                        NewRow.lockKey(
                                SchemaName.DEFAULT,
                                new CommandScope("acm", "echeckout", "case.approve"),
                                "c-1"))
                .isNotEqualTo(GOLDEN_KEY);
    }

    /** The first 8 bytes of SHA-256, computed by other means; old and new releases must agree. */
    private static final long GOLDEN_KEY = 3788035629763029870L;

    @Test
    void commands_and_their_parts_show_no_ids() {
        Command command = Command.of(Bank.SCOPE, "secret-id", HASH).about("Case", "secret-case");
        assertThat(command.toString())
                .startsWith("account.deposit #")
                .doesNotContain("secret", "acme");
        assertThat(new Rejection("CODE", "secret").toString()).doesNotContain("secret");
        assertThat(new Outcome<>("secret", true).toString()).doesNotContain("secret");
        assertThat(new Claim.Rejected(new Rejection("CODE", "secret")).toString())
                .doesNotContain("secret");
    }

    @Test
    void policies_and_limits_that_cannot_work_are_refused() throws Exception {
        assertThatThrownBy(() -> InFlightPolicy.waitUpTo(Duration.ofMillis(-1)))
                .hasMessageContaining("negative");
        assertThatThrownBy(() -> InFlightPolicy.blockUpTo(Duration.ZERO))
                .hasMessageContaining("at least one millisecond");
        try (TestDatabase db = TestDatabase.h2()) {
            OnlyOnce.Builder builder = OnlyOnce.on(db.dataSource());
            assertThatThrownBy(() -> builder.withResultLimit(-1)).hasMessageContaining("limit");
            assertThatThrownBy(() -> builder.withSchema("No")).hasMessageContaining("lower-case");
        }
    }

    @Test
    void a_missing_time_to_live_is_asked_for() throws Exception {
        try (TestDatabase db = TestDatabase.h2()) {
            Schema.apply(db.dataSource());
            OnlyOnce once = OnlyOnce.on(db.dataSource()).build();
            assertThatThrownBy(() -> once.commands().run(Bank.command("a"), String.class, w -> "x"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("withTtl")
                    .hasMessageContaining("withoutExpiry");
            assertThat(
                            once.commands()
                                    .run(Bank.command("a").withoutExpiry(), String.class, w -> "x")
                                    .value())
                    .isEqualTo("x");
            assertThatThrownBy(() -> once.commands().run(Bank.command("b"), String.class, null))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessage("work");
            assertThatThrownBy(
                            () ->
                                    OnlyOnce.on(db.dataSource())
                                            .withoutExpiry()
                                            .withHashAlgorithm(99)
                                            .build()
                                            .commands()
                                            .run(Bank.command("c"), String.class, w -> "x"))
                    .isInstanceOf(UnsupportedHashVersionException.class);
        }
    }

    @Test
    void missing_tables_are_said_to_be_missing() throws Exception {
        for (boolean postgres : new boolean[] {true, false}) {
            try (TestDatabase db = postgres ? TestDatabase.postgres() : TestDatabase.h2()) {
                assertThatThrownBy(() -> OnlyOnce.on(db.dataSource()).build())
                        .isInstanceOf(SchemaOutdatedException.class)
                        .hasMessageContaining("Schema.apply");
                Schema.apply(db.dataSource());
                OnlyOnce once = Bank.once(db.dataSource());
                db.execute("DROP SCHEMA onlyonce CASCADE");
                for (Command command :
                        new Command[] {Bank.command("a"), Bank.command("a").likelyRetry()}) {
                    assertThatThrownBy(() -> once.commands().run(command, String.class, w -> "x"))
                            .isInstanceOf(SchemaOutdatedException.class);
                }
                try (Connection connection = db.connect()) {
                    connection.setAutoCommit(false);
                    assertThatThrownBy(() -> once.dedup().tryStart(connection, Bank.command("a")))
                            .isInstanceOf(SchemaOutdatedException.class);
                }
            }
        }
    }

    @Test
    void a_closed_connection_is_refused_by_the_driver() throws Exception {
        try (TestDatabase db = TestDatabase.postgres()) {
            Schema.apply(db.dataSource());
            OnlyOnce once = Bank.once(db.dataSource());
            Connection connection = db.connect();
            connection.close();
            assertThatThrownBy(() -> once.dedup().tryStart(connection, Bank.command("a")))
                    .isInstanceOf(SQLException.class);
        }
    }
}
