package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.ResultCipher;
import io.onlyonce.payload.ResultCodec;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.payload.UnknownResultKeyException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionOptions;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

/** What encrypted commands promise on every database. */
abstract class SealContract extends DatabaseContract {

    private static final String SECRET = "secret of the customer " + Markers.MARK;

    private final byte[] oldKey = key(7);
    private final byte[] newKey = key(8);
    private final ResultCipher cipher = ResultCipher.aes256Gcm("old", Map.of("old", oldKey));
    private final ResultCipher rotated =
            ResultCipher.aes256Gcm("new", Map.of("old", oldKey, "new", newKey));
    private final AtomicInteger runs = new AtomicInteger();

    private DataSource pool;
    private OnlyOnce plain;
    private OnlyOnce sealed;

    SealContract(Opening opening) {
        super(opening);
    }

    private static byte[] key(int value) {
        var key = new byte[32];
        Arrays.fill(key, (byte) value);
        return key;
    }

    @BeforeAll
    void openBank() throws Exception {
        Bank.open(db);
        pool = db.pool(4);
        plain = Bank.once(pool);
        sealed = once(cipher);
    }

    private OnlyOnce once(ResultCipher with) throws SQLException {
        return OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).withCipher(with).build();
    }

    private Outcome<String> run(OnlyOnce once, Command command) throws SQLException {
        return run(once, command, Isolation.READ_COMMITTED);
    }

    private Outcome<String> run(OnlyOnce once, Command command, Isolation isolation)
            throws SQLException {
        var options =
                RunOptions.standard()
                        .withTransaction(
                                TransactionOptions.readCommitted().withIsolation(isolation));
        return once.commands()
                .run(
                        command,
                        String.class,
                        options,
                        work -> {
                            runs.incrementAndGet();
                            return SECRET;
                        });
    }

    private byte[] stored(String column, String id) throws SQLException {
        try (var connection = db.connect();
                var statement = connection.createStatement();
                var row =
                        statement.executeQuery(
                                "SELECT %s FROM onlyonce.command_dedup WHERE command_id = '%s'"
                                        .formatted(column, id))) {
            row.next();
            return row.getBytes(1);
        }
    }

    private String keyId(String id) throws SQLException {
        return db.value(
                        "SELECT key_id FROM onlyonce.command_dedup WHERE command_id = '%s'"
                                .formatted(id),
                        String.class)
                .orElse("none");
    }

    private static boolean shows(byte[] stored, String text) {
        return new String(stored, StandardCharsets.ISO_8859_1).contains(text);
    }

    private void set(String assignment, String id) throws SQLException {
        db.execute(
                "UPDATE onlyonce.command_dedup SET %s WHERE command_id = '%s'"
                        .formatted(assignment, id));
    }

    @ParameterizedTest
    @EnumSource
    void results_are_stored_without_their_text_and_replayed_byte_by_byte(Isolation isolation)
            throws Exception {
        String id = Bank.id("sealed");
        assertThat(run(sealed, Bank.command(id), isolation))
                .isEqualTo(new Outcome<>(SECRET, false));
        assertThat(run(sealed, Bank.command(id), isolation)).isEqualTo(new Outcome<>(SECRET, true));
        assertThat(run(sealed, Bank.command(id).likelyRetry(), isolation).replayed()).isTrue();
        assertThat(shows(stored("result", id), SECRET)).isFalse();
        assertThat(keyId(id)).isEqualTo(cipher.currentKeyId());
    }

    /** Four digits are guessed in a moment, if the hash is the bare one. */
    @Test
    void the_payload_hash_cannot_be_computed_without_the_key() throws Exception {
        String id = Bank.id("pin");
        String other = Bank.id("pin");
        String payload = "{\"pin\":4711}";
        run(sealed, Bank.command(id, payload));
        run(sealed, Bank.command(other, payload));

        byte[] bare = PayloadHash.ofJson(payload).bytes(11);
        assertThat(stored("payload_hash", id)).isNotEqualTo(bare).hasSize(32);
        assertThat(stored("payload_hash", id)).isNotEqualTo(stored("payload_hash", other));
        assertThatThrownBy(() -> run(sealed, Bank.command(id, "{\"pin\":4712}")))
                .isInstanceOf(PayloadMismatchException.class);
        assertThatThrownBy(
                        () ->
                                run(
                                        sealed,
                                        Command.of(
                                                Bank.SCOPE,
                                                id,
                                                PayloadHash.ofBytes(payload.getBytes()))))
                .isInstanceOf(PayloadMismatchException.class);
    }

    @Test
    void the_detail_of_a_rejection_is_encrypted_and_replayed() throws Exception {
        String id = Bank.id("no");
        for (boolean replayed : new boolean[] {false, true}) {
            assertThatThrownBy(
                            () ->
                                    sealed.commands()
                                            .run(
                                                    Bank.command(id),
                                                    String.class,
                                                    work -> {
                                                        throw new CommandRejectedException(
                                                                "LIMIT", SECRET);
                                                    }))
                    .isInstanceOfSatisfying(
                            CommandRejectedException.class,
                            no -> {
                                assertThat(no.detail()).isEqualTo(SECRET);
                                assertThat(no.replayed()).isEqualTo(replayed);
                            });
        }
        assertThat(shows(stored("result", id), SECRET)).isFalse();
        set("rejection_code = 'OTHER'", id);
        unreadable(sealed, Bank.command(id));
    }

    @Test
    void a_result_copied_to_another_command_is_not_decrypted() throws Exception {
        String from = Bank.id("from");
        String to = Bank.id("to");
        run(sealed, Bank.command(from));
        run(sealed, Bank.command(to));
        set(
                "result = (SELECT result FROM onlyonce.command_dedup WHERE command_id = '%s')"
                        .formatted(from),
                to);
        unreadable(sealed, Bank.command(to));
    }

    @Test
    void a_row_moved_to_another_tenant_or_id_is_refused() throws Exception {
        String id = Bank.id("moved");
        run(sealed, Bank.command(id));
        set("tenant = 'evil'", id);
        var scope = new CommandScope("evil", Bank.SCOPE.caller(), Bank.SCOPE.operation());
        int before = runs.get();
        assertThatThrownBy(() -> run(sealed, Command.of(scope, id, Bank.command(id).hash())))
                .isInstanceOf(PayloadMismatchException.class);
        String renamed = Bank.id("renamed");
        set("tenant = '" + Bank.SCOPE.tenant() + "', command_id = '" + renamed + "'", id);
        assertThatThrownBy(() -> run(sealed, Bank.command(renamed)))
                .isInstanceOf(PayloadMismatchException.class);
        set("command_id = '" + id + "'", renamed);
        assertThat(run(sealed, Bank.command(id)).replayed()).isTrue();
        assertThat(runs).hasValue(before);
    }

    @Test
    void a_changed_status_tag_or_byte_is_noticed() throws Exception {
        String id = Bank.id("changed");
        run(sealed, Bank.command(id));
        set("content_tag = 'bytes'", id);
        unreadable(sealed, Bank.command(id));
        set("content_tag = 'text', status = 3, resolved_by = 'x', resolved_why = 'y'", id);
        unreadable(sealed, Bank.command(id));
        set("status = 1, resolved_by = NULL, resolved_why = NULL", id);
        assertThat(run(sealed, Bank.command(id)).replayed()).isTrue();
    }

    private void unreadable(OnlyOnce once, Command command) {
        int before = runs.get();
        assertThatThrownBy(() -> run(once, command))
                .isInstanceOf(StoredResultUnreadableException.class)
                .hasMessageNotContaining(command.id());
        assertThat(runs).hasValue(before);
    }

    @Test
    void after_a_rotation_old_rows_are_read_and_new_ones_are_under_the_new_key() throws Exception {
        String before = Bank.id("before");
        String after = Bank.id("after");
        run(sealed, Bank.command(before));
        OnlyOnce now = once(rotated);

        assertThat(run(now, Bank.command(before))).isEqualTo(new Outcome<>(SECRET, true));
        assertThatThrownBy(() -> run(now, Bank.command(before, "{}")))
                .isInstanceOf(PayloadMismatchException.class);
        run(now, Bank.command(after));
        assertThat(keyId(before)).isEqualTo(cipher.currentKeyId());
        assertThat(keyId(after)).isEqualTo(rotated.currentKeyId());
    }

    @Test
    void without_the_right_key_a_command_is_neither_run_nor_called_a_mismatch() throws Exception {
        String id = Bank.id("wrong");
        run(sealed, Bank.command(id));
        OnlyOnce wrong = once(ResultCipher.aes256Gcm("old", Map.of("old", newKey)));
        OnlyOnce missing = once(ResultCipher.aes256Gcm("new", Map.of("new", newKey)));
        int before = runs.get();
        for (OnlyOnce once : List.of(wrong, missing, plain)) {
            assertThatThrownBy(() -> run(once, Bank.command(id)))
                    .isInstanceOfSatisfying(
                            UnknownResultKeyException.class,
                            e -> assertThat(e.keyId()).isEqualTo(cipher.currentKeyId()))
                    .hasMessageNotContaining(id);
        }
        assertThat(runs).hasValue(before);
        assertThat(run(sealed, Bank.command(id)).replayed()).isTrue();
    }

    @Test
    void rows_in_clear_are_still_read() throws Exception {
        String id = Bank.id("clear");
        run(plain, Bank.command(id));
        assertThat(run(sealed, Bank.command(id))).isEqualTo(new Outcome<>(SECRET, true));
        assertThat(shows(stored("result", id), SECRET)).isTrue();
        assertThat(keyId(id)).isEqualTo("none");
    }

    @Test
    void the_low_road_seals_too_and_an_operator_resolves_under_the_rows_key() throws Exception {
        String done = Bank.id("low");
        String open = Bank.id("low");
        String clear = Bank.id("low");
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            var first = (Claim.Started) sealed.dedup().tryStart(connection, Bank.command(done));
            sealed.dedup().complete(connection, first, SECRET);
            sealed.dedup().tryStart(connection, Bank.command(open));
            plain.dedup().tryStart(connection, Bank.command(clear));
            connection.commit();
            OnlyOnce now = once(rotated);
            for (String id : List.of(open, clear)) {
                now.dedup()
                        .resolve(
                                connection,
                                Bank.SCOPE,
                                id,
                                Resolution.completed(SECRET),
                                "operator",
                                "seen");
            }
            connection.commit();
            for (String id : List.of(done, open, clear)) {
                var replayed = (Claim.Replayed) now.dedup().tryStart(connection, Bank.command(id));
                assertThat(replayed.value(String.class)).isEqualTo(SECRET);
                assertThat(now.dedup().tryStart(connection, Bank.command(id, "{}")))
                        .isInstanceOf(Claim.PayloadMismatch.class);
                assertThat(shows(stored("result", id), SECRET)).isFalse();
            }
            connection.rollback();
        }
        assertThat(keyId(open)).isEqualTo(cipher.currentKeyId());
        assertThat(keyId(clear)).isEqualTo(rotated.currentKeyId());
    }

    @Test
    void a_released_claim_keeps_its_key_in_the_archive() throws Exception {
        String id = Bank.id("released");
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            sealed.dedup().tryStart(connection, Bank.command(id));
            connection.commit();
            sealed.dedup()
                    .resolve(connection, Bank.SCOPE, id, Resolution.released(), "op", "not there");
            connection.commit();
        }
        assertThat(
                        db.value(
                                "SELECT key_id FROM onlyonce.command_archive WHERE command_id = '"
                                        + id
                                        + "'",
                                String.class))
                .contains(cipher.currentKeyId());
    }

    record Card(String number, String secret) {}

    @Test
    void a_minimised_result_is_whole_for_the_first_caller_alone() throws Exception {
        String id = Bank.id("minimised");
        OnlyOnce once =
                OnlyOnce.on(pool)
                        .withTtl(Duration.ofDays(7))
                        .withCodec(
                                ResultCodec.json()
                                        .minimising(Card.class, c -> new Card(c.number(), "")))
                        .build();
        for (String expected : List.of(SECRET, "")) {
            assertThat(
                            once.commands()
                                    .run(Bank.command(id), Card.class, w -> new Card("1", SECRET))
                                    .value())
                    .isEqualTo(new Card("1", expected));
        }
        assertThat(shows(stored("result", id), SECRET)).isFalse();
        assertThat(run(once, Bank.command(Bank.id("other"))).value()).isEqualTo(SECRET);
    }
}
