package io.onlyonce.payload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonMerge;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;

import io.onlyonce.payload.ResultCodec.Encoded;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.Time;
import java.sql.Timestamp;
import java.text.SimpleDateFormat;
import java.time.*;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TimeZone;

class ResultCodecTest {

    record Approval(String caseId, int version, Instant at, Optional<String> note) {}

    record Grown(String caseId, Integer extra, boolean flag, Optional<String> more) {}

    record Amount(int amount) {}

    record Times(
            Duration duration,
            Instant instant,
            LocalDate date,
            LocalDateTime dateTime,
            LocalTime time,
            MonthDay monthDay,
            OffsetDateTime offsetDateTime,
            OffsetTime offsetTime,
            Period period,
            Year year,
            YearMonth yearMonth,
            ZoneId zone,
            ZoneOffset offset,
            ZonedDateTime zoned,
            DayOfWeek day,
            Month month,
            Map<LocalDate, Year> keys) {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
    interface Shape {}

    record Circle(int radius) implements Shape {}

    record Square(int side) implements Shape {}

    record Dated(@JsonFormat(shape = JsonFormat.Shape.STRING, pattern = "d MMMM yyyy") Date at) {}

    static final class Defaults {
        public int a = 1;
        public int b = 2;
    }

    static final class Merging {
        @JsonMerge public Optional<Defaults> some = Optional.of(new Defaults());
        @JsonMerge public Optional<Defaults> none = Optional.empty();

        Merging() {
            some.orElseThrow().b = 6;
        }
    }

    private final ResultCodec codec = ResultCodec.json();

    @Test
    void records_come_back_equal() {
        assertRoundTrip(
                new Approval(
                        "c-1",
                        8,
                        Instant.parse("2024-02-29T12:00:00.123456789Z"),
                        Optional.of("é😀\0")),
                ResultType.of(Approval.class),
                "json");
        assertRoundTrip(
                new Approval("c-1", 8, Instant.MAX, Optional.empty()),
                ResultType.of(Approval.class),
                "json");
    }

    @Test
    void generics_come_back_through_the_token() {
        var approval = new Approval("c", 1, Instant.EPOCH, Optional.empty());
        assertRoundTrip(List.of(approval), new ResultType<List<Approval>>() {}, "json");
        assertRoundTrip(
                Map.of("k", Optional.of(approval)),
                new ResultType<Map<String, Optional<Approval>>>() {},
                "json");
        assertRoundTrip(
                Optional.of(List.of(1L)), new ResultType<Optional<List<Long>>>() {}, "json");
        assertRoundTrip(Optional.<String>empty(), new ResultType<Optional<String>>() {}, "json");
        assertRoundTrip(
                List.of(new Circle(1), new Square(2)), new ResultType<List<Shape>>() {}, "json");
    }

    @Test
    void java_time_comes_back_to_the_nanosecond() {
        var zoned =
                ZonedDateTime.of(2024, 10, 27, 2, 30, 0, 1, ZoneId.of("Europe/Berlin"))
                        .withLaterOffsetAtOverlap();
        var times =
                new Times(
                        Duration.ofSeconds(-1, 1),
                        Instant.ofEpochSecond(-1, 1),
                        LocalDate.of(-5, 1, 1),
                        zoned.toLocalDateTime(),
                        LocalTime.of(10, 0),
                        MonthDay.of(2, 29),
                        zoned.toOffsetDateTime(),
                        zoned.toOffsetDateTime().toOffsetTime(),
                        Period.of(1, -2, 3),
                        Year.of(12_024),
                        YearMonth.of(12_024, 3),
                        ZoneId.of("Europe/Berlin"),
                        ZoneOffset.ofHoursMinutes(5, 30),
                        zoned,
                        DayOfWeek.MONDAY,
                        Month.MAY,
                        Map.of(LocalDate.of(2024, 2, 29), Year.of(-3)));
        assertRoundTrip(times, ResultType.of(Times.class), "json");
        assertRoundTrip(Instant.EPOCH, ResultType.of(Instant.class), "json");
        assertThat(json(codec.encode(Duration.ofMinutes(90), ResultType.of(Duration.class))))
                .isEqualTo("\"PT1H30M\"");
        assertThat(
                        json(
                                codec.encode(
                                        Map.of(Instant.EPOCH, Year.of(7)),
                                        new ResultType<Map<Instant, Year>>() {})))
                .isEqualTo("{\"1970-01-01T00:00:00Z\":\"7\"}");
    }

    @Test
    void java_sql_times_come_back_in_full() {
        var at = Timestamp.from(Instant.parse("2024-02-29T12:00:00.123456789Z"));
        var time = new Time(Time.valueOf("23:59:58").getTime() + 7);
        assertRoundTrip(at, ResultType.of(Timestamp.class), "json");
        assertRoundTrip(time, ResultType.of(Time.class), "json");
        assertRoundTrip(
                java.sql.Date.valueOf("2024-02-29"), ResultType.of(java.sql.Date.class), "json");
        assertRoundTrip(
                Map.of(at, List.of(time)), new ResultType<Map<Timestamp, List<Time>>>() {}, "json");
        assertThat(json(codec.encode(time, ResultType.of(Time.class))))
                .isEqualTo("\"23:59:58.007\"");
    }

    @Test
    @ResourceLock(Resources.TIME_ZONE)
    void a_date_replayed_in_another_zone_is_the_same_date() {
        TimeZone before = TimeZone.getDefault();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
            var date = java.sql.Date.valueOf("2024-02-29");
            Encoded stored = codec.encode(date, ResultType.of(java.sql.Date.class));
            TimeZone.setDefault(TimeZone.getTimeZone("America/Caracas"));
            assertThat(codec.decode(stored, ResultType.of(java.sql.Date.class)))
                    .hasToString("2024-02-29");
        } finally {
            TimeZone.setDefault(before);
        }
    }

    @Test
    void results_do_not_depend_on_the_country_they_are_written_in() {
        var format = new SimpleDateFormat("d MMMM yyyy", Locale.ROOT);
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        assertThat(json(codec.encode(new Dated(new Date(0)), ResultType.of(Dated.class))))
                .isEqualTo("{\"at\":\"" + format.format(new Date(0)) + "\"}");
    }

    @Test
    void bytes_are_stored_as_they_are() {
        byte[] megabyte = new byte[1_048_576];
        new Random(7).nextBytes(megabyte);
        for (byte[] bytes : new byte[][] {{}, {0}, {(byte) 0xc3, 0x28, 0, (byte) 0xff}, megabyte}) {
            Encoded encoded = codec.encode(bytes, ResultType.of(byte[].class));
            assertThat(encoded.tag()).isEqualTo("bytes");
            assertThat(encoded.bytes()).isEqualTo(bytes).isNotSameAs(bytes);
            byte[] decoded = codec.decode(encoded, ResultType.of(byte[].class));
            assertThat(decoded).isEqualTo(bytes).isNotSameAs(encoded.bytes());
            assertThat(codec.decode(encoded, ResultType.of(Object.class))).isEqualTo(bytes);
        }
    }

    @Test
    void text_is_stored_as_it_is() {
        for (String text :
                new String[] {
                    "",
                    "\0",
                    "{\"b\" : 1.00, \"a\":1e2}",
                    " é e\u0301 😀 \ufeff\uffff",
                    "x".repeat(1_048_576)
                }) {
            Encoded encoded = assertRoundTrip(text, ResultType.of(String.class), "text");
            assertThat(encoded.bytes()).isEqualTo(text.getBytes(UTF_8));
            assertThat(codec.decode(encoded, ResultType.of(CharSequence.class))).isEqualTo(text);
        }
    }

    @Test
    void null_comes_back_as_null_for_any_type() {
        Encoded encoded = codec.encode(null, ResultType.of(Void.class));
        assertThat(encoded).isEqualTo(new Encoded("null", new byte[0]));
        assertThat(codec.decode(encoded, ResultType.of(Void.class))).isNull();
        assertThat(codec.decode(encoded, ResultType.of(String.class))).isNull();
        assertThat(
                        codec.decode(
                                codec.encode(null, new ResultType<List<Approval>>() {}),
                                new ResultType<List<Approval>>() {}))
                .isNull();
    }

    @Test
    void numbers_without_a_declared_type_keep_every_digit() throws Exception {
        String json =
                "{\"b\":1.50,\"a\":9007199254740993.0000000000000000001,\"c\":123456789012345678901234567890}";
        JsonNode tree =
                codec.decode(
                        new Encoded("json", json.getBytes(UTF_8)), ResultType.of(JsonNode.class));
        assertThat(json(codec.encode(tree, ResultType.of(JsonNode.class)))).isEqualTo(json);
        var map = Map.of("a", (Object) new BigDecimal("0.1000000000000000055511151231257827"));
        assertRoundTrip(map, new ResultType<Map<String, Object>>() {}, "json");
        assertRoundTrip(BigInteger.TEN.pow(5_000), ResultType.of(BigInteger.class), "json");
        assertRoundTrip(
                new double[] {2e23, Double.MIN_VALUE, Double.NaN, -0.0},
                ResultType.of(double[].class),
                "json");
    }

    @Test
    void long_names_and_strings_that_were_written_can_be_read() {
        assertRoundTrip(
                Map.of("n".repeat(100_000), "x".repeat(1_000_000)),
                new ResultType<Map<String, String>>() {},
                "json");
    }

    @Test
    void a_type_may_grow_and_shrink() {
        Encoded old =
                new Encoded(
                        "json",
                        "{\"caseId\":\"c\",\"version\":8,\"gone\":{\"x\":[1]}}".getBytes(UTF_8));
        assertThat(codec.decode(old, ResultType.of(Grown.class)))
                .isEqualTo(new Grown("c", null, false, Optional.empty()));
    }

    @Test
    void optionals_can_be_merged() {
        Encoded stored =
                new Encoded("json", "{\"some\":{\"a\":9},\"none\":{\"a\":9}}".getBytes(UTF_8));
        Merging merging = codec.decode(stored, ResultType.of(Merging.class));
        assertThat(merging.some.orElseThrow()).extracting("a", "b").containsExactly(9, 6);
        assertThat(merging.none.orElseThrow()).extracting("a", "b").containsExactly(9, 2);
    }

    @Test
    void a_mapper_of_the_users_own_is_copied_and_obeyed() {
        var mapper =
                JsonMapper.builder()
                        .propertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE)
                        .build();
        ResultCodec own = ResultCodec.json(mapper);
        mapper.setPropertyNamingStrategy(PropertyNamingStrategies.KEBAB_CASE);
        assertThat(json(own.encode(new Amount(1), ResultType.of(Amount.class))))
                .isEqualTo("{\"Amount\":1}");
    }

    @Test
    void an_encoded_result_is_a_value_that_hides_its_content() {
        var one = new Encoded("text", "secret".getBytes(UTF_8));
        assertThat(one)
                .isEqualTo(new Encoded("text", "secret".getBytes(UTF_8)))
                .hasSameHashCodeAs(new Encoded("text", "secret".getBytes(UTF_8)));
        assertThat(one)
                .isNotEqualTo(new Encoded("json", one.bytes()))
                .isNotEqualTo(new Encoded("text", new byte[0]))
                .isNotEqualTo("text");
        assertThat(one.hashCode())
                .isNotEqualTo(new Encoded("json", one.bytes()).hashCode())
                .isNotEqualTo(new Encoded("text", new byte[0]).hashCode());
        assertThat(one.hashCode()).isEqualTo(31 * "text".hashCode() + Arrays.hashCode(one.bytes()));
        assertThat(one).hasToString("Encoded[text, 6 bytes]");
        assertThat(new Encoded("x".repeat(64), new byte[0]).tag()).hasSize(64);
        for (String tag : new String[] {"", " ", "a b", "é", "x".repeat(65), "a\n"}) {
            assertThatThrownBy(() -> new Encoded(tag, new byte[0]))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private <T> Encoded assertRoundTrip(T value, ResultType<T> type, String tag) {
        Encoded encoded = codec.encode(value, type);
        assertThat(encoded.tag()).isEqualTo(tag);
        assertThat(codec.decode(encoded, type)).isEqualTo(value);
        assertThat(codec.encode(codec.decode(encoded, type), type)).isEqualTo(encoded);
        return encoded;
    }

    private static String json(Encoded encoded) {
        return new String(encoded.bytes(), UTF_8);
    }
}
