package io.onlyonce.payload;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.KeyDeserializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.ser.std.ToStringSerializer;

import java.io.IOException;
import java.sql.Date;
import java.sql.Time;
import java.sql.Timestamp;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoField;
import java.util.function.Function;

/**
 * The types of {@code java.time} as the ISO-8601 text of their {@code toString}, to the nanosecond,
 * and those of {@code java.sql} like their counterparts there.
 */
final class TimeModule extends SimpleModule {

    private static final long serialVersionUID = 1L;

    TimeModule() {
        super("onlyonce-time");
        add(Duration.class, Duration::parse);
        add(Instant.class, Instant::parse);
        add(LocalDate.class, LocalDate::parse);
        add(LocalDateTime.class, LocalDateTime::parse);
        add(LocalTime.class, LocalTime::parse);
        add(MonthDay.class, MonthDay::parse);
        add(OffsetDateTime.class, OffsetDateTime::parse);
        add(OffsetTime.class, OffsetTime::parse);
        add(Period.class, Period::parse);
        // Year.parse wants a sign beyond 9999.
        add(Year.class, text -> Year.of(Integer.parseInt(text)));
        add(YearMonth.class, text -> YearMonth.parse(signed(text)));
        add(ZoneId.class, ZoneId::of);
        add(ZoneOffset.class, ZoneOffset::of);
        add(ZonedDateTime.class, ZonedDateTime::parse);
        addSql(
                Timestamp.class,
                t -> t.toInstant().toString(),
                s -> Timestamp.from(Instant.parse(s)));
        addSql(Date.class, d -> d.toLocalDate().toString(), s -> Date.valueOf(LocalDate.parse(s)));
        addSql(Time.class, TimeModule::timeText, TimeModule::time);
    }

    /** {@code Time.toLocalTime} leaves out the milliseconds. */
    private static String timeText(Time time) {
        int millis = (int) Math.floorMod(time.getTime(), 1_000L);
        return time.toLocalTime().with(ChronoField.MILLI_OF_SECOND, millis).toString();
    }

    private static Time time(String text) {
        LocalTime time = LocalTime.parse(text);
        return new Time(Time.valueOf(time).getTime() + time.get(ChronoField.MILLI_OF_SECOND));
    }

    /** Beyond 9999 parse() wants a sign that toString() leaves out. */
    private static String signed(String yearMonth) {
        return yearMonth.matches("\\d{5,}-.*") ? "+" + yearMonth : yearMonth;
    }

    /**
     * Jackson writes these as epoch milliseconds, which drops a timestamp's nanoseconds and lets a
     * date depend on the JVM's zone.
     */
    private <T> void addSql(Class<T> type, Function<T, String> text, Function<String, T> parse) {
        add(type, parse);
        addSerializer(type, new ToText<>(type, text));
        addKeySerializer(type, new ToKey<>(type, text));
    }

    private <T> void add(Class<T> type, Function<String, T> parse) {
        addSerializer(type, new ToStringSerializer(type));
        addDeserializer(type, new FromText<>(type, parse));
        addKeyDeserializer(type, new FromKey(type, parse));
    }

    private static final class ToText<T> extends StdScalarSerializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient Function<T, String> text;

        ToText(Class<T> type, Function<T, String> text) {
            super(type);
            this.text = text;
        }

        @Override
        public void serialize(T value, JsonGenerator json, SerializerProvider provider)
                throws IOException {
            json.writeString(text.apply(value));
        }
    }

    private static final class ToKey<T> extends StdSerializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient Function<T, String> text;

        ToKey(Class<T> type, Function<T, String> text) {
            super(type);
            this.text = text;
        }

        @Override
        public void serialize(T key, JsonGenerator json, SerializerProvider provider)
                throws IOException {
            json.writeFieldName(text.apply(key));
        }
    }

    private static final class FromText<T> extends StdScalarDeserializer<T> {
        private static final long serialVersionUID = 1L;

        private final transient Function<String, T> parse;

        FromText(Class<T> type, Function<String, T> parse) {
            super(type);
            this.parse = parse;
        }

        @Override
        public T deserialize(JsonParser json, DeserializationContext context) throws IOException {
            String text = json.getValueAsString("");
            try {
                return parse.apply(text);
            } catch (DateTimeException
                    | NumberFormatException e) { // quotes the text: not kept as cause
                throw context.weirdStringException(text, handledType(), "not the ISO-8601 form");
            }
        }
    }

    private static final class FromKey extends KeyDeserializer {
        private final Class<?> type;
        private final Function<String, ?> parse;

        FromKey(Class<?> type, Function<String, ?> parse) {
            this.type = type;
            this.parse = parse;
        }

        @Override
        public Object deserializeKey(String key, DeserializationContext context)
                throws IOException {
            try {
                return parse.apply(key);
            } catch (DateTimeException | NumberFormatException e) {
                throw context.weirdKeyException(type, key, "not the ISO-8601 form");
            }
        }
    }
}
