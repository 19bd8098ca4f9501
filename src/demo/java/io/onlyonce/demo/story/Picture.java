package io.onlyonce.demo.story;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs the demo and draws the table at its end as SVG, letter by letter as a terminal shows it. */
final class Picture {

    private static final int LETTER = 8; // wide, at 13 px
    private static final int LINE = 19;
    private static final int MARGIN = 18;

    private static final String HEAD =
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img">
            <title>The end of what ./gradlew demo prints</title>
            <style>
            rect { fill: #0d1117 } text { white-space: pre; fill: #d1d7e0 }
            text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
            .s1 { font-weight: 600 } .s31 { fill: #ff7b72 } .s32 { fill: #56d364 }
            </style>
            <rect width="100%%" height="100%%" rx="8"/>
            """;

    private static final Pattern STYLED = Pattern.compile("\\u001b\\[(\\d+)m(.*?)\\u001b\\[0m");

    private Picture() {}

    /** Argument: the file to write. */
    public static void main(String[] args) throws Exception {
        var out = new ByteArrayOutputStream();
        int code =
                Story.tell(
                        List.of("--fast"),
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        true,
                        false);
        if (code != 0) {
            throw new IllegalStateException(
                    "The demo did not hold: " + out.toString(StandardCharsets.UTF_8));
        }
        List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        int table = 0;
        while (!lines.get(table).contains(Screen.TABLE)) {
            table++;
        }
        Files.writeString(Path.of(args[0]), svg(lines.subList(table, lines.size())));
        System.exit(0);
    }

    static String svg(List<String> lines) {
        int width =
                lines.stream()
                        .mapToInt(l -> STYLED.matcher(l).replaceAll("$2").length())
                        .max()
                        .orElse(0);
        var svg =
                new StringBuilder(
                        HEAD.formatted(
                                2 * MARGIN + width * LETTER, 2 * MARGIN + lines.size() * LINE));
        int y = MARGIN + 13;
        for (String line : lines) {
            Matcher styled = STYLED.matcher(escape(line));
            String spans = styled.replaceAll("<tspan class=\"s$1\">$2</tspan>");
            svg.append(
                    "<text x=\"%d\" y=\"%d\" xml:space=\"preserve\">%s</text>\n"
                            .formatted(MARGIN, y, spans));
            y += LINE;
        }
        return svg.append("</svg>\n").toString();
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
