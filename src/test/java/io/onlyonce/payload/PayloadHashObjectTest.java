package io.onlyonce.payload;

import static com.fasterxml.jackson.annotation.JsonInclude.Include.NON_ABSENT;
import static com.fasterxml.jackson.annotation.JsonInclude.Include.NON_EMPTY;

import static io.onlyonce.payload.CanonicalJsonRefusalTest.assertReason;
import static io.onlyonce.payload.InvalidPayloadException.Reason.*;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonKey;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import java.sql.Time;
import java.sql.Timestamp;
import java.text.SimpleDateFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;

class PayloadHashObjectTest {

    record Transfer(
            String account,
            BigDecimal amount,
            LocalDate due,
            Set<String> tags,
            Optional<String> note) {}

    record Shapes(double[] doubles, float[] floats, Map<Double, Float> keys, Object any) {}

    record Annotated(
            @JsonInclude(NON_EMPTY) Set<Integer> some,
            @JsonFormat(with = JsonFormat.Feature.WRITE_SINGLE_ELEM_ARRAYS_UNWRAPPED)
                    Set<Integer> single,
            @JsonInclude(NON_ABSENT) Optional<String> present,
            @JsonInclude(value = NON_EMPTY, content = NON_EMPTY) Optional<String> full) {}

    public static final class InThisCountry {
        @JsonFormat(shape = JsonFormat.Shape.STRING, pattern = "EEEE d MMMM HH:mm")
        public Date at = new Date(0);
    }

    @JsonFormat(shape = JsonFormat.Shape.ARRAY)
    public static final class Row {
        public int z = 3;
        public int a = 1;
        public int m = 2;
    }

    record Account(String name) {}

    record Currency(@JsonKey String code, double rate) {}

    @Test
    void a_record_hashes_like_the_json_it_stands_for() {
        var transfer =
                new Transfer(
                        "a-1",
                        new BigDecimal("10.50"),
                        LocalDate.of(2024, 2, 29),
                        Set.of("x", "y", "é"),
                        Optional.empty());
        assertSame(
                transfer,
                "{\"note\":null,\"account\":\"a-1\",\"due\":\"2024-02-29\",\"amount\":10.5,\"tags\":[\"x\",\"y\",\"é\"]}");
        assertSame(
                Optional.of(Map.of("at", Instant.ofEpochSecond(0, 1))),
                "{\"at\":\"1970-01-01T00:00:00.000000001Z\"}");
        assertSame(Map.of(LocalDate.of(2024, 1, 2), 1), "{\"2024-01-02\":1}");
    }

    @Test
    void sets_are_hashed_in_canonical_order_at_any_depth() {
        for (long seed = 0; seed < 200; seed++) {
            var random = new Random(seed);
            var json = new RandomJson(seed);
            var elements = new ArrayList<Object>();
            for (int i = random.nextInt(8); i > 0; i--) {
                Object element = random.nextBoolean() ? json.text() : json.number();
                elements.add(random.nextInt(3) == 0 ? Set.of(element) : element);
            }
            var forward = new LinkedHashSet<>(elements);
            Collections.shuffle(elements, random);
            var shuffled = new LinkedHashSet<>(elements);
            PayloadHash hash = PayloadHash.ofJson(Map.of("s", List.of(forward)));
            assertThat(PayloadHash.ofJson(Map.of("s", List.of(shuffled))))
                    .as("seed %d", seed)
                    .isEqualTo(hash);
            shuffled.add("one more");
            assertThat(PayloadHash.ofJson(Map.of("s", List.of(shuffled))))
                    .as("seed %d", seed)
                    .isNotEqualTo(hash);
        }
        assertThat(PayloadHash.ofJson(new LinkedHashSet<>(List.of(2, 1))))
                .isNotEqualTo(PayloadHash.ofJson(List.of(2, 1)));
        assertSame(
                new LinkedHashSet<>(List.of("b", "a", 10, 9, new LinkedHashSet<>(List.of(3, 2)))),
                "[\"a\",\"b\",1e1,9,[2,3]]");
        assertSame(Set.of(), "[]");
    }

    @Test
    void lists_keep_their_order() {
        assertThat(PayloadHash.ofJson(List.of(1, 2)))
                .isNotEqualTo(PayloadHash.ofJson(List.of(2, 1)));
    }

    @Test
    void floats_go_through_their_shortest_form_wherever_they_are() {
        assertSame(new double[] {2.0E-3, 2e23, 1.0, -0.0}, "[0.002,2e23,1,0]");
        assertSame(List.of(2e23, 2e23f, 0.1f), "[2e23,2e23,0.1]");
        assertSame(
                new Shapes(new double[] {2e23}, new float[] {1.1f}, Map.of(2e23, 3.3f), 0.1),
                "{\"doubles\":[2e23],\"floats\":[1.1],\"keys\":{\"2E+23\":3.3},\"any\":0.1}");
        assertSame(Map.of(0.1f, 1), "{\"0.1\":1}");
        assertSame(JsonNodeFactory.instance.arrayNode().add(2e23).add(0.1f), "[2e23,0.1]");
        assertSame(JsonNodeFactory.instance.arrayNode().addPOJO(new double[] {2e23}), "[[2e23]]");
    }

    @Test
    void whole_numbers_of_any_type_are_one_number() {
        for (Object one :
                new Object[] {
                    (byte) 1, (short) 1, 1, 1L, 1f, 1d, BigInteger.ONE, new BigDecimal("1.000")
                }) {
            assertSame(one, "1");
        }
    }

    @Test
    void nan_and_infinity_are_refused() {
        for (Object value :
                new Object[] {
                    Double.NaN,
                    Double.POSITIVE_INFINITY,
                    Float.NaN,
                    Float.NEGATIVE_INFINITY,
                    List.of(Double.NaN),
                    new double[] {Double.NaN},
                    Map.of("a", Float.NaN),
                    Map.of(Double.NaN, 1),
                    JsonNodeFactory.instance.numberNode(Double.NaN)
                }) {
            assertReason(() -> PayloadHash.ofJson(value), NOT_A_NUMBER);
        }
    }

    @Test
    void annotations_on_sets_and_optionals_are_obeyed() {
        assertSame(
                new Annotated(Set.of(), Set.of(1), Optional.empty(), Optional.of("")),
                "{\"single\":1}");
        assertSame(
                new Annotated(Set.of(1, 2), Set.of(1, 2), Optional.of("x"), Optional.of("y")),
                "{\"some\":[1,2],\"single\":[1,2],\"present\":\"x\",\"full\":\"y\"}");
    }

    /** The library's own mapper remembers the serializers that it has made. */
    @Test
    void a_mapper_that_has_seen_nothing_yet_writes_the_same() throws IOException {
        var mapper =
                JsonMapper.builder()
                        .addModule(new OptionalModule())
                        .addModule(new PayloadModule())
                        .build();
        var text = new BoundedWriter(1_000);
        try (var json = new PayloadGenerator(mapper, text, JsonLimits.DEFAULTS, 0)) {
            mapper.writeValue(
                    json,
                    List.of(
                            new LinkedHashSet<>(List.of(2, 1)),
                            List.of("b", "a"),
                            new Annotated(Set.of(), Set.of(1), Optional.of("x"), Optional.of("")),
                            Map.of(2e23, 1)));
        }
        assertThat(text)
                .hasToString(
                        "[[1,2],[\"b\",\"a\"],{\"single\":1,\"present\":\"x\"},{\"2E+23\":1}]");
    }

    @Test
    void what_has_no_json_form_is_refused_without_quoting_it() {
        assertReason(() -> PayloadHash.ofJson(new Object()), NOT_SERIALIZABLE);
        var throwing =
                new Object() {
                    public String getSecret() {
                        throw new IllegalStateException("secret");
                    }
                };
        var refusal =
                catchThrowableOfType(
                        InvalidPayloadException.class, () -> PayloadHash.ofJson(throwing));
        assertThat(refusal.reason()).isEqualTo(NOT_SERIALIZABLE);
        assertThat(refusal)
                .hasNoCause()
                .hasMessageContaining("JsonMappingException")
                .message()
                .doesNotContain("secret");
    }

    @Test
    void timestamps_that_differ_by_a_nanosecond_differ() {
        var one = Timestamp.from(Instant.parse("2024-02-29T12:00:00.123456788Z"));
        var two = Timestamp.from(Instant.parse("2024-02-29T12:00:00.123456789Z"));
        assertThat(PayloadHash.ofJson(one)).isNotEqualTo(PayloadHash.ofJson(two));
        assertSame(two, "\"2024-02-29T12:00:00.123456789Z\"");
        assertSame(Map.of(two, 1), "{\"2024-02-29T12:00:00.123456789Z\":1}");
    }

    @Test
    @ResourceLock(Resources.TIME_ZONE)
    void sql_dates_and_times_are_the_same_in_every_zone() {
        TimeZone before = TimeZone.getDefault();
        try {
            for (String zone : new String[] {"UTC", "Asia/Tokyo", "America/Caracas"}) {
                TimeZone.setDefault(TimeZone.getTimeZone(zone));
                var date = java.sql.Date.valueOf("2024-02-29");
                var time = new Time(Time.valueOf("23:59:58").getTime() + 120);
                assertSame(List.of(date, time), "[\"2024-02-29\",\"23:59:58.120\"]");
                assertSame(Map.of(date, 1), "{\"2024-02-29\":1}");
            }
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @Test
    void the_country_of_the_process_does_not_show() {
        var format = new SimpleDateFormat("EEEE d MMMM HH:mm", Locale.ROOT);
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        assertSame(new InThisCountry(), "{\"at\":\"" + format.format(new Date(0)) + "\"}");
    }

    @Test
    void a_bean_written_as_an_array_has_one_order() {
        assertSame(new Row(), "[1,2,3]");
    }

    @Test
    void a_map_key_whose_text_differs_between_processes_is_refused() {
        for (Object key :
                new Object[] {
                    new Object() {},
                    new int[] {1},
                    Set.of("a", "b"),
                    List.of(0.1),
                    Map.of("a", 1),
                    Optional.of(0.1),
                    new Account("secret")
                }) {
            var refusal =
                    catchThrowableOfType(
                            InvalidPayloadException.class,
                            () -> PayloadHash.ofJson(Map.of(key, 1)));
            assertThat(refusal.reason()).isEqualTo(NOT_SERIALIZABLE);
            assertThat(refusal).hasMessageContaining("@JsonKey").message().doesNotContain("secret");
        }
    }

    @Test
    void a_map_key_with_a_text_of_its_own_is_that_text() {
        var uuid = UUID.fromString("00000000-0000-0001-0000-000000000002");
        assertSame(
                Map.of(1, 1, uuid, 2, 'c', 3, true, 4, new BigDecimal("1.50"), 5),
                "{\"1\":1,\"" + uuid + "\":2,\"c\":3,\"true\":4,\"1.50\":5}");
        assertSame(Map.of(Path.of("a/b"), 1, Thread.State.NEW, 2), "{\"a/b\":1,\"NEW\":2}");
        assertSame(Map.of(new byte[] {1}, 1), "{\"AQ==\":1}");
        assertSame(Map.of(new Currency("EUR", 0.1), 1), "{\"EUR\":1}");
    }

    @Test
    void enum_sets_and_hash_sets_are_one() {
        assertThat(PayloadHash.ofJson(new HashSet<>(List.of("b", "a"))))
                .isEqualTo(PayloadHash.ofJson(List.of("a", "b")));
        assertThat(PayloadHash.ofJson(EnumSet.of(Thread.State.WAITING, Thread.State.NEW)))
                .isEqualTo(PayloadHash.ofJson(List.of("NEW", "WAITING")));
    }

    private static void assertSame(Object value, String json) {
        assertThat(PayloadHash.ofJson(value)).isEqualTo(PayloadHash.ofJson(json));
    }
}
