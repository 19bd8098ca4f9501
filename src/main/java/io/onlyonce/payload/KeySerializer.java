package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.NOT_SERIALIZABLE;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;

import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;

/**
 * Refuses keys that Jackson would write by a {@code toString} that differs from process to process
 * or from JDK to JDK.
 */
final class KeySerializer extends JsonSerializer<Object> {

    private final JsonSerializer<Object> text;

    @SuppressWarnings("unchecked")
    KeySerializer(JsonSerializer<?> text) {
        this.text = (JsonSerializer<Object>) text;
    }

    @Override
    public void serialize(Object key, JsonGenerator out, SerializerProvider provider)
            throws IOException {
        if (isMadeOfOthers(key) || isIdentity(key)) {
            throw new InvalidPayloadException(
                    NOT_SERIALIZABLE,
                    "the text of a map key of type "
                            + key.getClass().getSimpleName()
                            + " is not always the same; mark what counts with @JsonKey");
        }
        text.serialize(key, out, provider);
    }

    /** These show their parts, in an order or a spelling of their own. */
    private static boolean isMadeOfOthers(Object key) {
        return key instanceof Record
                || key instanceof Collection
                || key instanceof Map
                || key instanceof Optional;
    }

    private static boolean isIdentity(Object key) {
        return !(key instanceof byte[]) // written as Base64
                && key.toString()
                        .equals(
                                key.getClass().getName()
                                        + "@"
                                        + Integer.toHexString(key.hashCode()));
    }
}
