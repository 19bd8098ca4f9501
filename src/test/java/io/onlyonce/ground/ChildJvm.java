package io.onlyonce.ground;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A JVM of one's own to kill, freeze and thaw, running a main class of the test class path.
 *
 * <p>It dies with this JVM, however this JVM ends. For use by one thread.
 */
public final class ChildJvm implements AutoCloseable {

    /** The exit code of a child whose parent has gone. */
    static final int ORPHANED = 86;

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final Process process;
    private final LineLog out;
    private final LineLog err;
    private String checkpoint = "";

    private ChildJvm(Process process) {
        this.process = process;
        this.out = new LineLog(process.inputReader(StandardCharsets.UTF_8), "child-out");
        this.err = new LineLog(process.errorReader(StandardCharsets.UTF_8), "child-err");
    }

    /** Starts {@code main} with these arguments; returns before it runs. */
    public static ChildJvm start(Class<?> main, String... args) throws IOException {
        return startOn(System.getProperty("java.class.path"), List.of(), main, args);
    }

    /** The same on a class path without the jars that are named so. */
    public static ChildJvm startWithout(String jar, Class<?> main, String... args)
            throws IOException {
        String path =
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .filter(entry -> !new File(entry).getName().contains(jar))
                        .collect(Collectors.joining(File.pathSeparator));
        return startOn(path, List.of(), main, args);
    }

    /** The same with a clock that is a day ahead of everybody else's. */
    public static ChildJvm startAhead(Class<?> main, String... args) throws IOException {
        String agent = "-javaagent:" + MovedClock.agent();
        return startOn(System.getProperty("java.class.path"), List.of(agent), main, args);
    }

    /** The same on a class path, and with options for the JVM, of one's own. */
    public static ChildJvm startOn(
            String classPath, List<String> options, Class<?> main, String... args)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(options);
        command.addAll(List.of("-Dfile.encoding=UTF-8", ChildMain.class.getName(), main.getName()));
        command.addAll(List.of(args));
        var builder = new ProcessBuilder(command);
        builder.environment().put("CLASSPATH", classPath);
        return new ChildJvm(builder.start());
    }

    public long pid() {
        return process.pid();
    }

    /** The next line of its output that starts so, within 30 s. */
    public String awaitLine(String prefix) throws InterruptedException {
        return awaitLine(prefix, DEADLINE);
    }

    /** The next line of its output that starts so. */
    public String awaitLine(String prefix, Duration deadline) throws InterruptedException {
        return await(line -> line.startsWith(prefix), "printed \"" + prefix + "\"", deadline);
    }

    /**
     * The next line of its output that is wanted; lines before it are passed over for good.
     *
     * @throws AssertionError with all output if the child ends or the deadline passes first
     */
    public String awaitLine(Predicate<String> wanted, Duration deadline)
            throws InterruptedException {
        return await(wanted, "printed the wanted line", deadline);
    }

    /** Returns once the child stands at {@link Checkpoint#reached}, within 30 s. */
    public void awaitCheckpoint(String name) throws InterruptedException {
        await((Checkpoint.REACHED + name)::equals, "reached checkpoint " + name, DEADLINE);
        checkpoint = name;
    }

    /** Lets the child go on from the checkpoint awaited last. */
    public void proceed() throws IOException {
        var in = process.outputWriter(StandardCharsets.UTF_8);
        in.write(Checkpoint.PROCEED + checkpoint + "\n");
        in.flush();
    }

    /** Kills it as SIGKILL does and returns when it is gone: no hook, no finally, no goodbye. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        exitCode(DEADLINE);
    }

    /** Stops it in its tracks (SIGSTOP): alive for its peers, deaf to everything. */
    public void freeze() throws IOException, InterruptedException {
        signal("-STOP");
    }

    /** Lets a frozen child go on (SIGCONT) as if nothing had happened. */
    public void thaw() throws IOException, InterruptedException {
        signal("-CONT");
    }

    /** Its exit code, once it has ended. */
    public int exitCode(Duration deadline) throws InterruptedException {
        if (!process.waitFor(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
            throw failure("waited " + Await.say(deadline) + " in vain until the child ended");
        }
        return process.exitValue();
    }

    /** What it printed so far. */
    public List<String> output() {
        return out.lines();
    }

    /** What it complained about so far. */
    public List<String> errors() {
        return err.lines();
    }

    /** Kills it if it still runs. */
    @Override
    public void close() throws InterruptedException {
        kill();
    }

    private String await(Predicate<String> wanted, String what, Duration deadline)
            throws InterruptedException {
        return out.await(wanted, System.nanoTime() + deadline.toNanos())
                .orElseThrow(
                        () -> failure("waited " + Await.say(deadline) + " in vain until " + what));
    }

    private void signal(String signal) throws IOException, InterruptedException {
        var kill = new ProcessBuilder("kill", signal, Long.toString(pid())).start();
        if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
            throw failure("failed to kill " + signal);
        }
    }

    private AssertionError failure(String what) {
        String state = process.isAlive() ? "running" : "ended with " + process.exitValue();
        return new AssertionError(
                "%s (the child is %s)\nits output:\n%s\nits errors:\n%s"
                        .formatted(
                                what,
                                state,
                                String.join("\n", output()),
                                String.join("\n", errors())));
    }
}
