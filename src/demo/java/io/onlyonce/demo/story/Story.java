package io.onlyonce.demo.story;

import java.io.IOException;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;

/**
 * {@code [--fast] [--url jdbc:…]}: tells the story on an embedded PostgreSQL, on H2 where none can
 * be started, or on a database of yours.
 */
public final class Story {

    private static final String USAGE =
            "Usage: [--fast] [--url jdbc:postgresql://…], or: serve [port=8080] [url=jdbc:…]";

    private Story() {}

    /** Tells it; 0 if every claim held, 1 if not, 2 if the arguments were not understood. */
    public static int tell(List<String> args, PrintStream out) throws Exception {
        boolean terminal = System.console() != null || System.getenv("ONLYONCE_TERMINAL") != null;
        return tell(args, out, terminal && System.getenv("NO_COLOR") == null, terminal);
    }

    static int tell(List<String> args, PrintStream out, boolean colours, boolean terminal)
            throws Exception {
        boolean fast = false;
        String url = "";
        for (int i = 0; i < args.size(); i++) {
            String arg = args.get(i);
            if (arg.equals("--fast")) {
                fast = true;
            } else if (arg.equals("--url") && i + 1 < args.size()) {
                url = args.get(++i);
            } else {
                out.println("Not understood: " + arg + "\n" + USAGE);
                return 2;
            }
        }
        if (!url.isEmpty() && !Ground.accepts(url)) {
            out.println(Ground.WHICH_URL);
            return 2;
        }
        var screen = new Screen(out, new Screen.Style(colours, terminal && !fast));
        screen.title("OnlyOnce: the same transfer, when things go wrong");
        try (Ground ground = ground(url, screen)) {
            var without = Side.create(ground, Side.Kind.NAIVE, "without");
            var with = Side.create(ground, Side.Kind.SAFE, "with");
            return tell(ground, without, with, screen);
        }
    }

    /** The second side is the one that claims are made about. */
    static int tell(Ground ground, Side without, Side with, Screen screen) throws Exception {
        screen.say("");
        screen.say("Ann has 1,000.00 and sends Bob 10.00, again and again. Each time it is done");
        screen.say(
                "  without  by ordinary code: was this id seen? if not, do it, then remember the"
                        + " id");
        screen.say("  with     by OnlyOnce, with the same SQL");
        screen.say("What is said below was read from the database: " + ground.title() + ".");
        int broken = new Scenes(ground, without, with, screen).play();
        screen.table();
        screen.verdict(
                broken == 0,
                broken == 0
                        ? "Every claim held: with OnlyOnce everything happened once."
                        : Words.count(broken, "claim") + " did not hold.");
        screen.say("Next: README.md, or an HTTP server to try: ./gradlew demo -Pargs=serve");
        return broken == 0 ? 0 : 1;
    }

    private static Ground ground(String url, Screen screen) throws IOException, SQLException {
        if (!url.isEmpty()) {
            return Ground.at(url);
        }
        screen.say("Starting a PostgreSQL of its own; the first time takes some seconds more.");
        try {
            return Ground.embedded();
        } catch (IOException | IllegalStateException e) {
            screen.say("It cannot be started here, so H2 must do: " + e.getMessage());
            return Ground.h2();
        }
    }
}
