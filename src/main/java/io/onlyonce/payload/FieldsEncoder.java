package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.DUPLICATE_KEY;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_LARGE;

import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.TreeMap;

/** Named fields as bytes; the encoding is described at {@link PayloadHash#ofFields(Map)}. */
final class FieldsEncoder {

    private static final byte[] NOTHING = {};

    private final JsonLimits limits;
    private final ByteSink out = new ByteSink(256);

    FieldsEncoder(JsonLimits limits) {
        this.limits = limits;
    }

    byte[] encode(Map<String, ?> fields) {
        var sorted = new TreeMap<String, @Nullable Object>(fields);
        if (sorted.size()
                != fields.size()) { // an IdentityHashMap, or an order that is not String's
            throw new InvalidPayloadException(DUPLICATE_KEY);
        }
        out.putInt(sorted.size());
        for (var field : sorted.entrySet()) {
            put(CanonicalJson.utf8(field.getKey(), limits));
            putValue(field.getValue());
        }
        return out.toArray();
    }

    private void putValue(@Nullable Object value) {
        if (value == null) {
            out.put('n');
            put(NOTHING);
        } else if (value instanceof String text) {
            out.put('s');
            put(CanonicalJson.utf8(text, limits));
        } else if (value instanceof byte[] bytes) {
            out.put('b');
            put(bytes);
        } else {
            out.put('j');
            put(new CanonicalJson(limits).canonicalize(PayloadMapper.write(value, limits)));
        }
    }

    private void put(byte[] part) {
        if (part.length > limits.bytes() - out.length) {
            throw new InvalidPayloadException(
                    TOO_LARGE, "the limit is " + limits.bytes() + " bytes");
        }
        out.putFramed(part);
    }
}
