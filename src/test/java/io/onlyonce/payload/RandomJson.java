package io.onlyonce.payload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/** Random documents, random spellings of one document, and random changes of its meaning. */
final class RandomJson {

    /** Numbers are kept as they are: 1.0 and 1.00 are equal in value here, not in spelling. */
    private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);

    private static final String[] PIECES = {
        "a",
        "b",
        "id",
        "",
        " ",
        "\"",
        "\\",
        "/",
        "\n",
        "\t",
        "\b",
        "\f",
        "\r",
        "\0",
        "\u0001",
        "\u001f",
        "\u007f",
        "é",
        "e\u0301",
        "ß",
        "\u07ff",
        "\u0800",
        "\u2028",
        "\ud7ff",
        "\ue000",
        "\ufeff",
        "\uffff",
        "\ud800\udc00",
        "😀",
        "\udbff\udfff",
        "{",
        "}",
        ":",
        ",",
        "null",
        "1"
    };

    private final Random random;

    RandomJson(long seed) {
        random = new Random(seed);
    }

    JsonNode document(int depth) {
        return switch (random.nextInt(depth > 0 ? 9 : 6)) {
            case 0 -> NODES.booleanNode(random.nextBoolean());
            case 1 -> NODES.nullNode();
            case 2, 3 -> NODES.textNode(text());
            case 4, 5 -> NODES.numberNode(number());
            case 6 -> array(depth);
            default -> object(depth);
        };
    }

    private ArrayNode array(int depth) {
        var array = NODES.arrayNode();
        for (int i = random.nextInt(6); i > 0; i--) {
            array.add(document(depth - 1));
        }
        return array;
    }

    private ObjectNode object(int depth) {
        var object = NODES.objectNode();
        for (int i = random.nextInt(7); i > 0; i--) {
            object.set(text(), document(depth - 1));
        }
        return object;
    }

    String text() {
        var text = new StringBuilder();
        for (int i = random.nextInt(5); i > 0; i--) {
            text.append(PIECES[random.nextInt(PIECES.length)]);
        }
        return text.toString();
    }

    BigDecimal number() {
        BigInteger digits =
                switch (random.nextInt(4)) {
                    case 0 -> BigInteger.ZERO;
                    case 1 -> BigInteger.valueOf(random.nextInt(200) - 100);
                    case 2 -> BigInteger.valueOf(random.nextLong());
                    default -> new BigInteger(1 + random.nextInt(300), random);
                };
        return new BigDecimal(
                digits, random.nextInt(5) > 0 ? random.nextInt(8) - 4 : random.nextInt(900) - 450);
    }

    /**
     * The same meaning in other characters: order of keys, whitespace, escapes and numbers at
     * random.
     */
    String spell(JsonNode node) {
        var json = new StringBuilder();
        spell(node, json);
        return json.toString();
    }

    private void spell(JsonNode node, StringBuilder json) {
        space(json);
        if (node.isObject()) {
            var names = new ArrayList<String>();
            node.fieldNames().forEachRemaining(names::add);
            Collections.shuffle(names, random);
            json.append('{');
            String separator = "";
            for (String name : names) {
                json.append(separator);
                space(json);
                quote(name, json);
                space(json);
                json.append(':');
                spell(node.get(name), json);
                separator = ",";
            }
            space(json);
            json.append('}');
        } else if (node.isArray()) {
            json.append('[');
            String separator = "";
            for (JsonNode element : node) {
                json.append(separator);
                spell(element, json);
                separator = ",";
            }
            space(json);
            json.append(']');
        } else if (node.isTextual()) {
            quote(node.textValue(), json);
        } else if (node.isNumber()) {
            json.append(spell(node.decimalValue()));
        } else {
            json.append(node.asText());
        }
        space(json);
    }

    private void space(StringBuilder json) {
        for (int i = random.nextInt(4); i > 2; i--) {
            json.append(" \n\r\t".charAt(random.nextInt(4)));
        }
    }

    private void quote(String text, StringBuilder json) {
        json.append('"');
        for (char c : text.toCharArray()) {
            int shortForm = "\"\\/\b\f\n\r\t".indexOf(c);
            if (shortForm >= 0 && random.nextBoolean()) {
                json.append('\\').append("\"\\/bfnrt".charAt(shortForm));
            } else if (c < ' ' || c == '"' || c == '\\' || random.nextInt(4) == 0) {
                escape(c, json);
            } else if (Character.isHighSurrogate(c) && random.nextBoolean()) {
                escape(c, json);
            } else {
                json.append(c);
            }
        }
        json.append('"');
        repairPairs(json);
    }

    private void escape(char c, StringBuilder json) {
        String hex = String.format("%04x", (int) c);
        json.append("\\u").append(random.nextBoolean() ? hex : hex.toUpperCase(Locale.ROOT));
    }

    /** A pair is spelt as two escapes or as two chars, never half and half. */
    private static void repairPairs(StringBuilder json) {
        for (int i = 0; i < json.length(); i++) {
            char c = json.charAt(i);
            if (Character.isHighSurrogate(c) && !Character.isLowSurrogate(json.charAt(i + 1))) {
                json.replace(i, i + 1, String.format("\\u%04x", (int) c));
            } else if (Character.isLowSurrogate(c)
                    && (i == 0 || !Character.isHighSurrogate(json.charAt(i - 1)))) {
                json.replace(i, i + 1, String.format("\\u%04x", (int) c));
            }
        }
    }

    private String spell(BigDecimal value) {
        if (value.signum() == 0) {
            String[] zeros = {
                "0", "-0", "0.0", "-0.00", "0e5", "0E-7", "0e+99999999999", "-0.0e-0"
            };
            return zeros[random.nextInt(zeros.length)];
        }
        BigDecimal padded = value.setScale(value.scale() + random.nextInt(3));
        return switch (random.nextInt(3)) {
            case 0 -> padded.toPlainString();
            case 1 -> padded.toString().replace("E", random.nextBoolean() ? "e" : "E");
            default -> {
                String exponent = Integer.toString(-padded.scale());
                String sign = padded.scale() <= 0 && random.nextBoolean() ? "+" : "";
                yield padded.unscaledValue() + "e" + sign + exponent;
            }
        };
    }

    /** A document that differs in meaning, in one place. */
    JsonNode change(JsonNode node) {
        if (node.isObject() && !node.isEmpty() && random.nextInt(8) > 0) {
            ObjectNode copy = node.deepCopy();
            List<String> names = new ArrayList<>();
            node.fieldNames().forEachRemaining(names::add);
            String name = names.get(random.nextInt(names.size()));
            switch (random.nextInt(4)) {
                case 0 -> copy.remove(name);
                case 1 -> {
                    JsonNode value = copy.remove(name);
                    copy.set(fresh(names, name), value);
                }
                default -> copy.set(name, change(node.get(name)));
            }
            return copy;
        }
        if (node.isArray() && !node.isEmpty() && random.nextInt(8) > 0) {
            ArrayNode copy = node.deepCopy();
            int index = random.nextInt(node.size());
            switch (random.nextInt(3)) {
                case 0 -> copy.remove(index);
                case 1 -> copy.insert(index, "inserted");
                default -> copy.set(index, change(node.get(index)));
            }
            return copy;
        }
        if (node.isNumber()) {
            BigDecimal value = node.decimalValue();
            return NODES.numberNode(value.add(value.ulp().movePointLeft(random.nextInt(3))));
        }
        if (node.isTextual()) {
            return NODES.textNode(fresh(List.of(), node.textValue()));
        }
        return node.isNull() ? NODES.textNode("null") : NODES.arrayNode().add(node);
    }

    private String fresh(List<String> taken, String text) {
        String[] others = {text + " ", " " + text, text + "\0", text + "e\u0301", "x" + text};
        String other = others[random.nextInt(others.length)];
        return taken.contains(other) ? fresh(taken, other) : other;
    }
}
