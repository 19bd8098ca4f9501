package io.onlyonce.compare;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Bars side by side as SVG, readable on light and on dark ground. */
final class Chart {

    static final int WIDTH = 760;
    static final int FONT = 13;

    /** A letter is about this wide at most; the test keeps every text inside the frame by it. */
    static final double LETTER = 7.4;

    private static final int LABELS = 304;
    private static final int VALUES = 220;
    private static final int BAR = 18;
    private static final int LINE = 28;
    private static final int TOP = 64;

    /** One bar; the library's own stand out. */
    record Bar(String label, Spread value, boolean ours) {}

    private final String title;
    private final String note;
    private final List<Bar> bars = new ArrayList<>();

    /** The note says which way is better. */
    Chart(String title, String note) {
        this.title = title;
        this.note = note;
    }

    Chart bar(String label, Spread value) {
        bars.add(new Bar(label, value, label.startsWith("OnlyOnce")));
        return this;
    }

    boolean isEmpty() {
        return bars.isEmpty();
    }

    String svg() {
        int height = TOP + bars.size() * LINE + 12;
        double largest = bars.stream().mapToDouble(bar -> bar.value().high()).max().orElse(1);
        double scale = (WIDTH - LABELS - VALUES) / Math.max(largest, 1e-9);
        var svg = new StringBuilder();
        add(
                svg,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n",
                WIDTH,
                height);
        add(
                svg,
                """
                <style>
                text { font: %dpx system-ui, "DejaVu Sans", sans-serif; fill: #1f2328 }
                .title { font-weight: 600 }
                .note { fill: #59636e }
                .ours { fill: #1a7f5a } .other { fill: #9aa4af } .spread { stroke: #1f2328 }
                @media (prefers-color-scheme: dark) {
                text { fill: #f0f3f6 } .note { fill: #b3bcc6 }
                .ours { fill: #3fb98a } .other { fill: #6e7781 } .spread { stroke: #f0f3f6 } }
                </style>
                """,
                FONT);
        text(svg, 16, 26, "title", title);
        text(svg, 16, 46, "note", note);
        int y = TOP;
        for (Bar bar : bars) {
            bar(svg, bar, y, scale);
            y += LINE;
        }
        return svg.append("</svg>\n").toString();
    }

    private static void bar(StringBuilder svg, Bar bar, int y, double scale) {
        Spread value = bar.value();
        text(svg, 16, y + 14, "label", bar.label());
        add(
                svg,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                bar.ours() ? "ours" : "other",
                LABELS,
                y,
                Math.max(1, value.median() * scale),
                BAR);
        add(
                svg,
                "<line class=\"spread\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
                LABELS + value.low() * scale,
                LABELS + value.high() * scale,
                y + BAR / 2,
                y + BAR / 2);
        text(svg, (int) (LABELS + value.high() * scale) + 8, y + 14, "label", value.cell());
    }

    private static void text(StringBuilder svg, int x, int y, String kind, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        add(svg, "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", kind, x, y, escaped);
    }

    private static void add(StringBuilder svg, String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
