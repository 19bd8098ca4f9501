package io.onlyonce.demo.story;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A child JVM that runs {@link Victim}; it dies with this one, however this one ends. */
final class Killable implements AutoCloseable {

    static final String READY = "READY";
    static final String URL = "ONLYONCE_DEMO_URL"; // it may hold a password: never an argument
    static final String SCHEMA = "ONLYONCE_DEMO_SCHEMA";

    private static final String ENDED = "(it ended)";
    private static final int PATIENCE_SECONDS = 30;

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private Killable(Process process) {
        this.process = process;
        var reader = new Thread(this::read, "child-output");
        reader.setDaemon(true);
        reader.start();
    }

    static Killable start(Ground ground, Side side, Order order, Moment moment) throws IOException {
        var builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        Victim.class.getName(),
                        side.kind().name(),
                        side.bank().name(),
                        order.id(),
                        Long.toString(order.cents()),
                        moment.name());
        builder.redirectErrorStream(true);
        builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().put(URL, ground.url());
        builder.environment().put(SCHEMA, ground.schema());
        return new Killable(builder.start());
    }

    /** Lets it run up to its moment, and kills it there: no hook, no finally, no goodbye. */
    void runAndKill(Moment moment) throws IOException, InterruptedException {
        await(READY);
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        await(moment.name());
        close();
    }

    long pid() {
        return process.pid();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private void await(String wanted) throws InterruptedException {
        List<String> heard = new ArrayList<>();
        while (true) {
            String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (wanted.equals(line)) {
                return;
            }
            if (line == null || line.equals(ENDED)) {
                throw new IllegalStateException(
                        "The child process never said " + wanted + ", but: " + heard);
            }
            heard.add(line);
        }
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // it was killed
        }
        lines.add(ENDED);
    }
}
