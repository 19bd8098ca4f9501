package io.onlyonce.payload;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.BeanSerializerModifier;
import com.fasterxml.jackson.databind.ser.std.StdKeySerializers;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.type.CollectionType;

import java.io.IOException;
import java.util.Set;

/** What differs between writing a payload for its hash and writing a result for its reader. */
final class PayloadModule extends SimpleModule {

    private static final long serialVersionUID = 1L;

    PayloadModule() {
        super("onlyonce-payload");
        addKeySerializer(Double.class, new DoubleKey());
        addKeySerializer(Float.class, new FloatKey());
        setSerializerModifier(new SameInEveryProcess());
    }

    private static final class DoubleKey extends StdSerializer<Double> {
        private static final long serialVersionUID = 1L;

        DoubleKey() {
            super(Double.class);
        }

        @Override
        public void serialize(Double key, JsonGenerator out, SerializerProvider provider)
                throws IOException {
            out.writeFieldName(ShortestDecimal.of(key.doubleValue()).toString());
        }
    }

    private static final class FloatKey extends StdSerializer<Float> {
        private static final long serialVersionUID = 1L;

        FloatKey() {
            super(Float.class);
        }

        @Override
        public void serialize(Float key, JsonGenerator out, SerializerProvider provider)
                throws IOException {
            out.writeFieldName(ShortestDecimal.of(key.floatValue()).toString());
        }
    }

    private static final class SameInEveryProcess extends BeanSerializerModifier {
        private static final long serialVersionUID = 1L;

        @Override
        public JsonSerializer<?> modifyCollectionSerializer(
                SerializationConfig config,
                CollectionType type,
                BeanDescription description,
                JsonSerializer<?> serializer) {
            return type.isTypeOrSubTypeOf(Set.class) ? new SetSerializer(serializer) : serializer;
        }

        @Override
        public JsonSerializer<?> modifyKeySerializer(
                SerializationConfig config,
                JavaType type,
                BeanDescription description,
                JsonSerializer<?> serializer) {
            return serializer instanceof StdKeySerializers.Default
                    ? new KeySerializer(serializer)
                    : serializer;
        }
    }
}
