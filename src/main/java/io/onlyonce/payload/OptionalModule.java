package io.onlyonce.payload;

import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializationConfig;
import com.fasterxml.jackson.databind.deser.Deserializers;
import com.fasterxml.jackson.databind.deser.ValueInstantiator;
import com.fasterxml.jackson.databind.deser.std.ReferenceTypeDeserializer;
import com.fasterxml.jackson.databind.jsontype.TypeDeserializer;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.Serializers;
import com.fasterxml.jackson.databind.ser.std.ReferenceTypeSerializer;
import com.fasterxml.jackson.databind.type.ReferenceType;
import com.fasterxml.jackson.databind.type.TypeBindings;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.databind.type.TypeModifier;
import com.fasterxml.jackson.databind.util.NameTransformer;

import org.jspecify.annotations.Nullable;

import java.lang.reflect.Type;
import java.util.Optional;

/** {@code Optional} as its value or null. */
final class OptionalModule extends SimpleModule {

    private static final long serialVersionUID = 1L;

    OptionalModule() {
        super("onlyonce-optional");
    }

    @Override
    public void setupModule(SetupContext context) {
        context.addTypeModifier(new OptionalIsReference());
        context.addSerializers(new Writers());
        context.addDeserializers(new Readers());
    }

    private static final class OptionalIsReference extends TypeModifier {
        @Override
        public JavaType modifyType(
                JavaType type, Type jdkType, @Nullable TypeBindings bindings, TypeFactory factory) {
            return type.hasRawClass(Optional.class) && !type.isReferenceType()
                    ? ReferenceType.upgradeFrom(type, type.containedTypeOrUnknown(0))
                    : type;
        }
    }

    private static final class Writers extends Serializers.Base {
        @Override
        public @Nullable JsonSerializer<?> findReferenceSerializer(
                SerializationConfig config,
                ReferenceType type,
                BeanDescription description,
                @Nullable TypeSerializer contentType,
                @Nullable JsonSerializer<Object> content) {
            return type.hasRawClass(Optional.class) ? new Writer(type, contentType, content) : null;
        }
    }

    private static final class Readers extends Deserializers.Base {
        @Override
        public @Nullable JsonDeserializer<?> findReferenceDeserializer(
                ReferenceType type,
                DeserializationConfig config,
                BeanDescription description,
                @Nullable TypeDeserializer contentType,
                @Nullable JsonDeserializer<?> content) {
            return type.hasRawClass(Optional.class)
                    ? new Reader(type, null, contentType, content)
                    : null;
        }
    }

    private static final class Writer extends ReferenceTypeSerializer<Optional<?>> {
        private static final long serialVersionUID = 1L;

        Writer(
                ReferenceType type,
                @Nullable TypeSerializer contentType,
                @Nullable JsonSerializer<Object> content) {
            super(type, true, contentType, content);
        }

        private Writer(
                Writer base,
                @Nullable BeanProperty property,
                @Nullable TypeSerializer contentType,
                @Nullable JsonSerializer<?> content,
                @Nullable NameTransformer unwrapper,
                @Nullable Object suppressed,
                boolean suppressNulls) {
            super(base, property, contentType, content, unwrapper, suppressed, suppressNulls);
        }

        @Override
        protected ReferenceTypeSerializer<Optional<?>> withResolved(
                @Nullable BeanProperty property,
                @Nullable TypeSerializer contentType,
                @Nullable JsonSerializer<?> content,
                @Nullable NameTransformer unwrapper) {
            return new Writer(
                    this,
                    property,
                    contentType,
                    content,
                    unwrapper,
                    _suppressableValue,
                    _suppressNulls);
        }

        @Override
        public ReferenceTypeSerializer<Optional<?>> withContentInclusion(
                @Nullable Object suppressed, boolean suppressNulls) {
            return new Writer(
                    this,
                    _property,
                    _valueTypeSerializer,
                    _valueSerializer,
                    _unwrapper,
                    suppressed,
                    suppressNulls);
        }

        @Override
        protected boolean _isValuePresent(Optional<?> value) {
            return value.isPresent();
        }

        @Override
        protected Object _getReferenced(Optional<?> value) {
            return value.orElseThrow();
        }

        @Override
        protected @Nullable Object _getReferencedIfPresent(Optional<?> value) {
            return value.orElse(null);
        }
    }

    private static final class Reader extends ReferenceTypeDeserializer<Optional<?>> {
        private static final long serialVersionUID = 1L;

        Reader(
                JavaType type,
                @Nullable ValueInstantiator instantiator,
                @Nullable TypeDeserializer contentType,
                @Nullable JsonDeserializer<?> content) {
            super(type, instantiator, contentType, content);
        }

        @Override
        protected Reader withResolved(
                @Nullable TypeDeserializer contentType, @Nullable JsonDeserializer<?> content) {
            return new Reader(_fullType, _valueInstantiator, contentType, content);
        }

        @Override
        public Optional<?> getNullValue(DeserializationContext context) {
            return Optional.empty();
        }

        @Override
        public Optional<?> referenceValue(Object content) {
            return Optional.ofNullable(content);
        }

        @Override
        public Optional<?> updateReference(Optional<?> reference, Object content) {
            return Optional.ofNullable(content);
        }

        @Override
        public @Nullable Object getReferenced(Optional<?> reference) {
            return reference.orElse(null);
        }
    }
}
