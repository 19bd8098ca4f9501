package io.onlyonce.payload;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.BeanProperty;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.ser.ContextualSerializer;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/**
 * Writes a set as an array in canonical order, because its own order differs from process to
 * process.
 */
final class SetSerializer extends JsonSerializer<Object> implements ContextualSerializer {

    private final JsonSerializer<Object> elements;

    @SuppressWarnings("unchecked")
    SetSerializer(JsonSerializer<?> elements) {
        this.elements = (JsonSerializer<Object>) elements;
    }

    @Override
    public JsonSerializer<?> createContextual(
            SerializerProvider provider, @Nullable BeanProperty property)
            throws JsonMappingException {
        return new SetSerializer(provider.handleSecondaryContextualization(elements, property));
    }

    @Override
    public void serialize(Object set, JsonGenerator out, SerializerProvider provider)
            throws IOException {
        var outer = (PayloadGenerator) out;
        var text = new BoundedWriter(outer.limits().bytes());
        var mapper = (ObjectMapper) outer.getCodec();
        try (var inner = new PayloadGenerator(mapper, text, outer.limits(), outer.depth())) {
            elements.serialize(set, inner, provider);
        }
        out.writeRawValue(CanonicalJson.canonicalizeSet(text.toString(), outer.limits()));
    }

    @Override
    public boolean isEmpty(SerializerProvider provider, Object set) {
        return elements.isEmpty(provider, set);
    }
}
