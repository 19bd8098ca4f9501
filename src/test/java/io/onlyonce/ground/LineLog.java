package io.onlyonce.ground;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The lines of a stream as they come, read by a thread of its own so that the writer never waits.
 */
final class LineLog {

    private final List<String> lines = new ArrayList<>();
    private int seen;
    private boolean ended;

    LineLog(BufferedReader reader, String name) {
        var thread = new Thread(() -> read(reader), name);
        thread.setDaemon(true);
        thread.start();
    }

    /** The first match after the last match; empty if the stream ends or the deadline passes. */
    synchronized Optional<String> await(Predicate<String> wanted, long endNanos)
            throws InterruptedException {
        int next = seen;
        while (true) {
            for (; next < lines.size(); next++) {
                if (wanted.test(lines.get(next))) {
                    seen = next + 1;
                    return Optional.of(lines.get(next));
                }
            }
            long millis = (endNanos - System.nanoTime()) / 1_000_000;
            if (ended || millis <= 0) {
                return Optional.empty();
            }
            wait(millis);
        }
    }

    synchronized List<String> lines() {
        return List.copyOf(lines);
    }

    private void read(BufferedReader reader) {
        try (reader) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                add(line);
            }
        } catch (IOException e) {
            // the process was killed: an end like any other
        }
        end();
    }

    private synchronized void add(String line) {
        lines.add(line);
        notifyAll();
    }

    private synchronized void end() {
        ended = true;
        notifyAll();
    }
}
