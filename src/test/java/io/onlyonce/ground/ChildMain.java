package io.onlyonce.ground;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What a {@link ChildJvm} runs first: it listens to the parent and dies with it. */
final class ChildMain {

    private static volatile boolean running;

    private ChildMain() {}

    static boolean running() {
        return running;
    }

    /** Runs the main method of the class named by the first argument. */
    public static void main(String[] args) throws Exception {
        running = true;
        var listener = new Thread(ChildMain::listen, "parent-listener");
        listener.setDaemon(true);
        listener.start();
        var main = Class.forName(args[0]).getDeclaredMethod("main", String[].class);
        main.setAccessible(true); // a test's nested class need not be public
        main.invoke(null, (Object) Arrays.copyOfRange(args, 1, args.length));
    }

    private static void listen() {
        var parent = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = parent.readLine(); line != null; line = parent.readLine()) {
                Checkpoint.heard(line);
            }
        } catch (IOException e) {
            // a broken pipe says the same as its end
        }
        Runtime.getRuntime().halt(ChildJvm.ORPHANED);
    }
}
