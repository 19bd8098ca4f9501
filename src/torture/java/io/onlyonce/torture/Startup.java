package io.onlyonce.torture;

import io.onlyonce.ground.ChildJvm;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How a client is started. Every killed one has a successor, so a run spends much of its time in
 * starting them: they get a short class path, less of all compiled and verified, and logging only
 * where somebody wants to read it.
 */
record Startup(String classPath) {

    private static final Set<String> JARS =
            Set.of("HikariCP", "jackson", "onlyonce", "postgresql", "slf4j");

    private static final List<String> OPTIONS =
            List.of(
                    "-XX:+UnlockDiagnosticVMOptions",
                    "-XX:-BytecodeVerificationRemote",
                    "-XX:CompileThresholdScaling=4",
                    "-XX:-UsePerfData");

    static Startup of(boolean logging) {
        return new Startup(
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .filter(entry -> isNeeded(new File(entry), logging))
                        .collect(Collectors.joining(File.pathSeparator)));
    }

    /** These classes come before all others. */
    static Startup with(Path mutant) {
        return new Startup(mutant.toAbsolutePath() + File.pathSeparator + of(false).classPath());
    }

    private static boolean isNeeded(File entry, boolean logging) {
        String name = entry.getName().split("-")[0];
        return entry.isDirectory() || JARS.contains(name) || (logging && name.equals("logback"));
    }

    ChildJvm start(List<String> args) throws IOException {
        return ChildJvm.startOn(classPath, OPTIONS, Client.class, args.toArray(String[]::new));
    }
}
