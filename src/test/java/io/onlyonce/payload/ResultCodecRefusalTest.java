package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;

import io.onlyonce.payload.ResultCodec.Encoded;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.*;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

class ResultCodecRefusalTest {

    record Picky(int amount) {
        Picky {
            if (amount == 13) {
                throw new IllegalArgumentException("secret amount 13");
            }
        }
    }

    /** Can be written, cannot be read. */
    static final class OneWay {
        private final int value;

        OneWay(int value, int other) {
            this.value = value + other;
        }

        public int getValue() {
            return value;
        }
    }

    @JsonDeserialize(using = Bomb.Reader.class)
    static final class Bomb {
        public int value = 1;

        static final class Reader extends JsonDeserializer<Bomb> {
            @Override
            public Bomb deserialize(JsonParser json, DeserializationContext context) {
                throw new IllegalStateException("secret");
            }
        }
    }

    private final ResultCodec codec = ResultCodec.json();

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"amount\":\"secret\"}",
                "{\"amount\":13}",
                "{\"amount\":1",
                "[\"secret\"]",
                "secret",
                "{} {}",
                "",
                "{\"amount\":1}}"
            })
    void a_result_that_no_longer_decodes_is_unreadable_and_not_quoted(String json) {
        assertUnreadable(
                new Encoded("json", json.getBytes(UTF_8)),
                ResultType.of(Picky.class),
                "reading io.onlyonce.payload.ResultCodecRefusalTest$Picky failed with ");
    }

    @Test
    void a_result_of_another_shape_is_unreadable() {
        assertUnreadable(
                new Encoded("xml", "secret".getBytes(UTF_8)),
                ResultType.of(String.class),
                "does not know its tag, xml");
        assertUnreadable(
                new Encoded("text", "secret".getBytes(UTF_8)),
                ResultType.of(Picky.class),
                "stored as text, not as io.onlyonce");
        assertUnreadable(
                new Encoded("bytes", "secret".getBytes(UTF_8)),
                ResultType.of(String.class),
                "stored as bytes, not as java.lang.String");
        assertUnreadable(
                new Encoded("json", "\"secret\"".getBytes(UTF_8)),
                ResultType.of(String.class),
                "stored as json, not as java.lang.String");
        assertUnreadable(
                new Encoded("json", "\"c2VjcmV0\"".getBytes(UTF_8)),
                ResultType.of(byte[].class),
                "stored as json, not as byte[]");
        assertUnreadable(
                new Encoded("text", new byte[] {'s', (byte) 0xff}),
                ResultType.of(String.class),
                "not valid UTF-8");
        assertUnreadable(
                new Encoded("json", "\"secret\"".getBytes(UTF_8)),
                ResultType.of(Instant.class),
                "InvalidFormatException at line 1, column 1");
        assertUnreadable(
                new Encoded("json", "\"secret\"".getBytes(UTF_8)),
                ResultType.of(Year.class),
                "InvalidFormatException");
        assertUnreadable(
                new Encoded("json", "{\"secret\":1}".getBytes(UTF_8)),
                new ResultType<Map<LocalDate, Integer>>() {},
                "InvalidFormatException");
        assertUnreadable(
                new Encoded("json", "[1]".getBytes(UTF_8)),
                ResultType.of(LocalDate.class),
                "InvalidFormatException");
        assertUnreadable(
                new Encoded("json", "{}".getBytes(UTF_8)),
                ResultType.of(Bomb.class),
                "failed with IllegalStateException");
    }

    @Test
    void a_type_that_cannot_be_read_back_is_refused_before_it_is_stored() {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> codec.encode(new OneWay(1, 2), ResultType.of(OneWay.class)))
                    .isInstanceOf(ResultNotEncodableException.class)
                    .hasMessageContaining("OneWay is written as JSON but cannot be read back")
                    .hasNoCause();
        }
    }

    @Test
    void a_value_that_cannot_be_read_back_is_refused_though_its_type_could_be_before() {
        var maps = new ResultType<Map<String, Integer>>() {};
        var lists = new ResultType<List<OneWay>>() {};
        codec.encode(Map.of("a", 1), maps);
        codec.encode(List.of(), lists);
        assertThatThrownBy(() -> codec.encode(Map.of("half \ud800", 1), maps))
                .isInstanceOf(ResultNotEncodableException.class);
        assertThatThrownBy(() -> codec.encode(List.of(new OneWay(1, 2)), lists))
                .isInstanceOf(ResultNotEncodableException.class);
    }

    @Test
    void a_result_that_refers_to_itself_is_refused() {
        var reference = new AtomicReference<Object>();
        reference.set(reference);
        var list = new ArrayList<Object>();
        list.add(list);
        assertThatThrownBy(
                        () -> codec.encode(reference, new ResultType<AtomicReference<Object>>() {}))
                .isInstanceOf(ResultNotEncodableException.class)
                .hasMessageContaining("without end");
        assertThatThrownBy(() -> codec.encode(list, new ResultType<List<Object>>() {}))
                .isInstanceOf(ResultNotEncodableException.class);
    }

    @Test
    void what_cannot_be_written_is_refused_without_quoting_it() {
        var throwing =
                new Object() {
                    public String getSecret() {
                        throw new IllegalStateException("secret");
                    }
                };
        var refusal =
                catchThrowableOfType(
                        ResultNotEncodableException.class,
                        () -> codec.encode(throwing, ResultType.of(Object.class)));
        assertThat(refusal)
                .hasNoCause()
                .hasMessageContaining("failed with JsonMappingException")
                .message()
                .doesNotContain("secret");
        assertThatThrownBy(() -> codec.encode("secret\ud800", ResultType.of(String.class)))
                .isInstanceOf(ResultNotEncodableException.class)
                .hasMessageContaining("surrogate")
                .message()
                .doesNotContain("secret");
    }

    private void assertUnreadable(Encoded stored, ResultType<?> type, String detail) {
        var unreadable =
                catchThrowableOfType(
                        StoredResultUnreadableException.class, () -> codec.decode(stored, type));
        assertThat(unreadable).hasNoCause().hasMessageContaining(detail);
        assertThat(unreadable.getMessage()).doesNotContain("secret");
        assertThat(unreadable.getSuppressed()).isEmpty();
    }
}
