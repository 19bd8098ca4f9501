package io.onlyonce.demo.story;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** What the reader sees: scenes, two lines each, and a table. Colours only add to the words. */
final class Screen {

    /** How it is shown. */
    record Style(boolean colours, boolean pauses) {}

    private record Row(String what, String should, String without, boolean lucky, String with) {}

    /** What the table begins with. */
    static final String TABLE = "What became of it";

    /** The line above and below its rows. */
    static final String RULE = "-".repeat(81);

    private static final long PAUSE_NANOS = 600_000_000;

    private final PrintStream out;
    private final Style style;
    private final List<Row> rows = new ArrayList<>();
    private int scenes;

    Screen(PrintStream out, Style style) {
        this.out = out;
        this.style = style;
    }

    void title(String text) {
        out.println(bold(text));
    }

    void say(String text) {
        out.println(text);
    }

    void scene(String title, String... story) {
        if (style.pauses && scenes > 0) {
            LockSupport.parkNanos(PAUSE_NANOS); // time to read
        }
        out.println();
        out.println(bold(++scenes + ". " + title));
        for (String line : story) {
            out.println("   " + line);
        }
    }

    void without(boolean right, String what) {
        out.println("     without  " + (right ? green("right") : red("WRONG")) + "  " + what);
    }

    void with(boolean right, String what) {
        out.println("     with     " + (right ? green("right") : red("WRONG")) + "  " + what);
    }

    /** A claim about OnlyOnce that did not hold. */
    void broken(String claim) {
        out.println("     " + red("BROKEN CLAIM: " + claim));
    }

    /** A line of the table at the end. */
    void row(String what, String should, String without, String with) {
        rows.add(new Row(what, should, without, without.equals(should), with));
    }

    void table() {
        out.println();
        String format = "%-34s%-14s%-20s%-14s";
        out.println(
                bold(
                        format.formatted(TABLE, "should be", "without", "with OnlyOnce")
                                .stripTrailing()));
        out.println(RULE);
        for (Row row : rows) {
            out.println(
                    "%-34s%-14s".formatted(row.what, row.should)
                            + paint(row.lucky, "%-20s".formatted(row.without))
                            + paint(row.with.equals(row.should), row.with));
        }
        out.println(RULE);
    }

    void verdict(boolean good, String text) {
        out.println(paint(good, text));
    }

    private String paint(boolean good, String text) {
        return good ? green(text) : red(text);
    }

    private String bold(String text) {
        return styled("1", text);
    }

    private String green(String text) {
        return styled("32", text);
    }

    private String red(String text) {
        return styled("31", text);
    }

    private String styled(String code, String text) {
        return style.colours ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
    }
}
