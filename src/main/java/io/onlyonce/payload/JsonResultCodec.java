package io.onlyonce.payload;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** {@link ResultCodec#json()}: bytes and text as they are, the rest through Jackson. */
final class JsonResultCodec implements ResultCodec {

    private static final String NULL = "null";
    private static final String BYTES = "bytes";
    private static final String TEXT = "text";
    private static final String JSON = "json";

    private final ObjectMapper mapper;
    private final Map<Type, ObjectWriter> writers = new ConcurrentHashMap<>();
    private final Map<Type, ObjectReader> readers = new ConcurrentHashMap<>();

    JsonResultCodec(ObjectMapper mapper) {
        this.mapper = mapper;
    }

    static ObjectMapper defaultMapper() {
        // What we wrote we must be able to read, however long its numbers and names are.
        var constraints =
                StreamReadConstraints.builder()
                        .maxNumberLength(Integer.MAX_VALUE)
                        .maxStringLength(Integer.MAX_VALUE)
                        .maxNameLength(Integer.MAX_VALUE)
                        .build();
        return JsonMapper.builder(JsonFactory.builder().streamReadConstraints(constraints).build())
                .addModule(new TimeModule())
                .addModule(new OptionalModule())
                .defaultLocale(Locale.ROOT) // whoever replays may run in another country
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
                .build();
    }

    @Override
    public <T> Encoded encode(@Nullable T value, ResultType<T> type) {
        if (value == null) {
            return new Encoded(NULL, new byte[0]);
        }
        if (value instanceof byte[] bytes) {
            return new Encoded(BYTES, bytes.clone());
        }
        if (value instanceof String text) {
            if (CanonicalJson.hasLoneSurrogate(text)) {
                throw new ResultNotEncodableException("the text holds half of a surrogate pair");
            }
            return new Encoded(TEXT, text.getBytes(StandardCharsets.UTF_8));
        }
        var encoded = new Encoded(JSON, writeJson(value, type));
        refuseUnreadable(encoded, type);
        return encoded;
    }

    /**
     * With the declared type, or a list of a polymorphic type would lose the type ids of its
     * elements.
     */
    private byte[] writeJson(Object value, ResultType<?> type) {
        try {
            return writer(type).writeValueAsBytes(value);
        } catch (JacksonException e) {
            throw new ResultNotEncodableException(
                    "writing " + type + " as JSON failed with " + named(e));
        } catch (StackOverflowError e) { // references around in a circle open no array or object
            throw new ResultNotEncodableException(type + " refers to itself without end");
        }
    }

    /**
     * Every time, since one value of a type may read back and another not: the first run finds it,
     * not the first retry.
     */
    private void refuseUnreadable(Encoded encoded, ResultType<?> type) {
        try {
            decode(encoded, type);
        } catch (StoredResultUnreadableException e) {
            throw new ResultNotEncodableException(
                    type + " is written as JSON but cannot be read back");
        }
    }

    // Each branch has checked the raw class, or Jackson has built the type.
    @Override
    @SuppressWarnings("unchecked")
    public <T> @Nullable T decode(Encoded stored, ResultType<T> type) {
        return switch (stored.tag()) {
            case NULL -> null;
            case BYTES -> (T) fitting(stored.bytes().clone(), stored, type);
            case TEXT -> (T) fitting(text(stored.bytes()), stored, type);
            case JSON -> (T) readJson(stored, type);
            default ->
                    throw new StoredResultUnreadableException(
                            "this codec does not know its tag, " + stored.tag());
        };
    }

    private static Object fitting(Object value, Encoded stored, ResultType<?> type) {
        if (!type.rawClass().isInstance(value)) {
            throw stillOfOtherType(stored, type);
        }
        return value;
    }

    private static String text(byte[] utf8) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
        } catch (CharacterCodingException e) {
            throw new StoredResultUnreadableException("its text is not valid UTF-8");
        }
    }

    private @Nullable Object readJson(Encoded stored, ResultType<?> type) {
        if (type.rawClass() == String.class || type.rawClass() == byte[].class) {
            throw stillOfOtherType(stored, type);
        }
        try {
            return reader(type).readValue(stored.bytes());
        } catch (JacksonException e) {
            throw new StoredResultUnreadableException(
                    "reading " + type + " failed with " + named(e));
        } catch (IOException
                | RuntimeException e) { // a deserializer of the user's may throw anything
            throw new StoredResultUnreadableException(
                    "reading " + type + " failed with " + e.getClass().getSimpleName());
        }
    }

    /** Made once for each type, because finding a type's serializer costs more than using it. */
    private ObjectWriter writer(ResultType<?> type) {
        return writers.computeIfAbsent(type.type(), key -> mapper.writerFor(javaType(key)));
    }

    private ObjectReader reader(ResultType<?> type) {
        return readers.computeIfAbsent(type.type(), key -> mapper.readerFor(javaType(key)));
    }

    private JavaType javaType(Type type) {
        return mapper.getTypeFactory().constructType(type);
    }

    private static StoredResultUnreadableException stillOfOtherType(
            Encoded stored, ResultType<?> type) {
        return new StoredResultUnreadableException(
                "it was stored as " + stored.tag() + ", not as " + type);
    }

    /** Class and position only: Jackson's messages and causes quote the source. */
    private static String named(JacksonException e) {
        @Nullable JsonLocation location = e.getLocation();
        String name = e.getClass().getSimpleName();
        return location == null
                ? name
                : name + " at line " + location.getLineNr() + ", column " + location.getColumnNr();
    }
}
