package io.onlyonce.ops;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a command found: lines for people, or one JSON object per row. */
final class Table {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss'Z'").withZone(ZoneOffset.UTC);
    private static final JsonMapper JSON = new JsonMapper();

    private final List<String> columns;
    private final List<List<Object>> rows = new ArrayList<>();

    Table(String... columns) {
        this.columns = List.of(columns);
    }

    Table add(Object... values) {
        List<Object> row = new ArrayList<>();
        for (Object value : values) {
            row.add(value instanceof Optional<?> optional ? optional.orElse(null) : value);
        }
        rows.add(row);
        return this;
    }

    /** Every row as one object, one per line. */
    String json() throws JsonProcessingException {
        var lines = new StringBuilder();
        for (List<Object> row : rows) {
            Map<String, Object> object = new LinkedHashMap<>();
            for (int i = 0; i < columns.size(); i++) {
                Object value = row.get(i);
                object.put(columns.get(i), value instanceof Instant ? value.toString() : value);
            }
            lines.append(JSON.writeValueAsString(object)).append("\n");
        }
        return lines.toString();
    }

    /** Aligned columns; numbers to the right. */
    String text() {
        if (rows.isEmpty()) {
            return "none\n";
        }
        int[] widths = columns.stream().mapToInt(String::length).toArray();
        for (List<Object> row : rows) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], say(row.get(i)).length());
            }
        }
        var text = new StringBuilder();
        line(text, widths, new ArrayList<>(columns));
        rows.forEach(row -> line(text, widths, row));
        return text.toString();
    }

    private void line(StringBuilder text, int[] widths, List<Object> row) {
        var line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String padding = " ".repeat(widths[i] - say(row.get(i)).length());
            boolean right = rows.get(0).get(i) instanceof Number;
            line.append(right ? padding + say(row.get(i)) : say(row.get(i)) + padding).append("  ");
        }
        text.append(line.toString().stripTrailing()).append("\n");
    }

    /** No control character of somebody's id or error reaches the terminal. */
    private static String say(Object value) {
        if (value == null) {
            return "-";
        }
        return (value instanceof Instant time ? TIME.format(time) : value.toString())
                .replaceAll("\\p{Cntrl}", "?");
    }
}
