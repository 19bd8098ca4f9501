package io.onlyonce.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.inbox.InboxAnswer.Duplicate;
import io.onlyonce.inbox.InboxAnswer.Processed;
import io.onlyonce.payload.ResultCipher;
import io.onlyonce.payload.UnknownResultKeyException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import javax.sql.DataSource;

/** What keyed payload hashes of messages promise on every database. */
abstract class InboxSealContract extends DatabaseContract {

    private final ResultCipher cipher = ResultCipher.aes256Gcm("old", Map.of("old", key(1)));
    private final ResultCipher rotated =
            ResultCipher.aes256Gcm("new", Map.of("old", key(1), "new", key(2)));
    private DataSource pool;
    private Inbox plain;
    private Inbox sealed;

    InboxSealContract(Opening opening) {
        super(opening);
    }

    private static byte[] key(int value) {
        var key = new byte[32];
        Arrays.fill(key, (byte) value);
        return key;
    }

    @BeforeAll
    void open() throws Exception {
        Mailroom.open(db);
        pool = db.pool(2);
        plain = Mailroom.once(pool).inbox("billing");
        sealed = inbox(cipher);
    }

    private Inbox inbox(ResultCipher with) throws SQLException {
        return OnlyOnce.on(pool)
                .withTtl(Duration.ofDays(7))
                .withCipher(with)
                .build()
                .inbox("billing");
    }

    private byte[] hash(String id) throws SQLException {
        return db.value(
                        "SELECT payload_hash FROM onlyonce.inbox_message WHERE message_id = '"
                                + id
                                + "'",
                        byte[].class)
                .orElseThrow();
    }

    @Test
    void hashes_cannot_be_computed_without_the_key_and_still_tell_payloads_apart()
            throws Exception {
        String clear = Mailroom.id("clear");
        String first = Mailroom.id("sealed");
        String second = Mailroom.id("sealed");
        plain.process(Mailroom.message(clear), Mailroom::apply);
        var batch = List.of(Mailroom.message(first), Mailroom.message(second));

        assertThat(sealed.processAll(batch, Mailroom::apply).answers())
                .containsOnly(new Processed());
        assertThat(sealed.processAll(batch, Mailroom::apply).answers())
                .containsOnly(new Duplicate());
        assertThat(List.of(hash(first), hash(second))).doesNotContain(hash(clear));
        assertThat(hash(first)).isNotEqualTo(hash(second));
        assertThatThrownBy(() -> sealed.process(Mailroom.message(first, "bye"), Mailroom::apply))
                .isInstanceOf(MessageIdentityViolationException.class);
        assertThat(sealed.process(Mailroom.message(clear), Mailroom::apply))
                .isEqualTo(new Duplicate());
        assertThat(inbox(rotated).process(Mailroom.message(first), Mailroom::apply))
                .isEqualTo(new Duplicate());
        assertThat(Mailroom.effects(db, first)).isEqualTo(1);
    }

    @Test
    void without_the_key_a_message_is_neither_processed_nor_called_a_violation() throws Exception {
        String id = Mailroom.id("missing");
        sealed.process(Mailroom.message(id), Mailroom::apply);
        Inbox wrong = inbox(ResultCipher.aes256Gcm("old", Map.of("old", key(3))));
        for (Inbox inbox : List.of(plain, wrong)) {
            assertThatThrownBy(() -> inbox.process(Mailroom.message(id), Mailroom::apply))
                    .isInstanceOf(UnknownResultKeyException.class);
            assertThat(inbox.processAll(List.of(Mailroom.message(id)), Mailroom::apply).answers())
                    .singleElement()
                    .isInstanceOfSatisfying(
                            InboxAnswer.Failed.class,
                            failed ->
                                    assertThat(failed.cause())
                                            .isInstanceOf(UnknownResultKeyException.class));
        }
        assertThat(Mailroom.effects(db, id)).isEqualTo(1);
    }
}
