package io.onlyonce.torture;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

/**
 * What one client writes down, a line at a time; each line has left the process before the client
 * goes on, so that a killed client's lines are there.
 */
final class HistoryFile implements AutoCloseable {

    private final FileOutputStream out;

    HistoryFile(Path path) throws IOException {
        out = new FileOutputStream(path.toFile(), true);
    }

    /** A line: what happened, whose history it is, more, and when it was written. */
    record Line(String what, String tenant, List<String> rest) {

        String get(int i) {
            return rest.get(i);
        }

        /** In microseconds of this machine's clock, which is the server's too. */
        long time() {
            return Long.parseLong(rest.get(rest.size() - 1));
        }
    }

    synchronized void write(String what, String tenant, Object... rest) {
        var line = new StringBuilder(what).append('\t').append(tenant);
        for (Object each : rest) {
            line.append('\t').append(String.valueOf(each).replaceAll("[\t\n\r]", " "));
        }
        line.append('\t').append(micros()).append('\n');
        try {
            out.write(line.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long micros() {
        return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
    }

    @Override
    public void close() throws IOException {
        out.close();
    }

    static Path of(Path folder, int client) {
        return folder.resolve("client-" + client + ".tsv");
    }

    static List<Line> read(Path path) throws IOException {
        List<Line> lines = new ArrayList<>();
        if (Files.exists(path)) {
            for (String line : Files.readAllLines(path)) {
                List<String> parts = List.of(line.split("\t", -1));
                lines.add(new Line(parts.get(0), parts.get(1), parts.subList(2, parts.size())));
            }
        }
        return lines;
    }
}
