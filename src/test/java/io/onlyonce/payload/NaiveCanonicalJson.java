package io.onlyonce.payload;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.math.BigDecimal;
import java.util.TreeMap;

/**
 * The canonical form as one would write it without a thought for cost: Jackson, TreeMap,
 * BigDecimal.
 */
final class NaiveCanonicalJson {

    private static final JsonMapper MAPPER =
            JsonMapper.builder(
                            com.fasterxml.jackson.core.JsonFactory.builder()
                                    .streamReadConstraints(
                                            StreamReadConstraints.builder()
                                                    .maxNumberLength(10_000)
                                                    .build())
                                    .build())
                    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                    .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
                    .build();

    private NaiveCanonicalJson() {}

    static String of(String json) throws Exception {
        // BigDecimal refuses exponents beyond an int, even of zero.
        return of(MAPPER.readTree(json.replaceAll("(?<![\\d.])0(\\.0+)?[eE][-+]?\\d{9,}", "0")));
    }

    static String of(JsonNode node) {
        if (node.isObject()) {
            var members = new TreeMap<String, String>();
            node.fields().forEachRemaining(e -> members.put(e.getKey(), of(e.getValue())));
            var json = new StringBuilder("{");
            members.forEach(
                    (key, value) -> json.append(quoted(key)).append(':').append(value).append(','));
            return members.isEmpty()
                    ? "{}"
                    : json.replace(json.length() - 1, json.length(), "}").toString();
        }
        if (node.isArray()) {
            var json = new StringBuilder("[");
            node.forEach(element -> json.append(of(element)).append(','));
            return node.isEmpty()
                    ? "[]"
                    : json.replace(json.length() - 1, json.length(), "]").toString();
        }
        return node.isTextual()
                ? quoted(node.textValue())
                : node.isNumber() ? number(node.decimalValue()) : node.asText();
    }

    private static String number(BigDecimal value) {
        BigDecimal stripped = value.stripTrailingZeros();
        if (stripped.signum() == 0) {
            return "0";
        }
        return stripped.unscaledValue() + (stripped.scale() == 0 ? "" : "e" + -stripped.scale());
    }

    private static String quoted(String text) {
        var json = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            int named = "\"\\\b\f\n\r\t".indexOf(c);
            if (named >= 0) {
                json.append('\\').append("\"\\bfnrt".charAt(named));
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }
}
