package io.onlyonce.ground;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/** A place in a {@link ChildJvm} where the parent decides: go on, freeze, or die. */
public final class Checkpoint {

    static final String REACHED = "@checkpoint ";
    static final String PROCEED = "@proceed ";

    private static final Map<String, Semaphore> PERMITS = new ConcurrentHashMap<>();

    private Checkpoint() {}

    /**
     * Tells the parent that this place is reached and blocks until {@link ChildJvm#proceed()}.
     *
     * <p>No deadline here: a parent that gives up kills this process.
     */
    public static void reached(String name) throws InterruptedException {
        if (!ChildMain.running()) {
            throw new IllegalStateException("only a ChildJvm has checkpoints: " + name);
        }
        System.out.println(REACHED + name);
        permits(name).acquire();
    }

    static void heard(String line) {
        if (line.startsWith(PROCEED)) {
            permits(line.substring(PROCEED.length())).release();
        }
    }

    private static Semaphore permits(String name) {
        return PERMITS.computeIfAbsent(name, unseen -> new Semaphore(0));
    }
}
