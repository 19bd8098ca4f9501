package io.onlyonce.compare;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The caller on one processor and the server on another, as if they were two machines.
 *
 * <p>Where they share two, the scheduler decides for each connection whether a trip has to wake a
 * sleeping processor, and keeps to it: the same statement takes 20 or 45 microseconds for as long
 * as the connection lives, and a ratio says more about luck than about methods.
 */
final class Apart implements AutoCloseable {

    private static final String CALLER = "0";
    private static final String SERVER = "1";

    private final String all = "0-" + (Runtime.getRuntime().availableProcessors() - 1);
    private final Optional<ProcessHandle> server;
    private final boolean moved;

    private Apart(Optional<ProcessHandle> server) throws InterruptedException {
        this.server = server;
        moved =
                server.isPresent()
                        && Runtime.getRuntime().availableProcessors() > 1
                        && move(CALLER, SERVER);
    }

    /** Stays together, and says so, if this machine or this server does not let itself be moved. */
    static Apart on(Ground ground, Report report) throws Exception {
        var apart =
                new Apart(
                        ProcessHandle.of(ground.count("SELECT pg_backend_pid()"))
                                .flatMap(ProcessHandle::parent)
                                .filter(Apart::isPostgres));
        if (!apart.moved) {
            report.progress("caller and server share the processors: expect a wide spread");
        }
        return apart;
    }

    private boolean move(String callers, String servers) throws InterruptedException {
        boolean good = taskset("-apc", callers, ProcessHandle.current().pid());
        ProcessHandle postmaster = server.orElseThrow(); // whose new children come with it
        good &= taskset("-pc", servers, postmaster.pid());
        for (ProcessHandle child : postmaster.children().toList()) {
            taskset("-pc", servers, child.pid()); // one that has ended meanwhile is no failure
        }
        return good;
    }

    /** A server elsewhere has process numbers too. */
    private static boolean isPostgres(ProcessHandle process) {
        return process.info().command().orElse("").contains("postgres");
    }

    private static boolean taskset(String how, String processors, long pid)
            throws InterruptedException {
        try {
            var process =
                    new ProcessBuilder("taskset", how, processors, Long.toString(pid))
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() throws InterruptedException {
        if (moved) {
            move(all, all);
        }
    }
}
