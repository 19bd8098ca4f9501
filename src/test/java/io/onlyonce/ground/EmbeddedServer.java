package io.onlyonce.ground;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** PostgreSQL's own binaries from Maven Central, run as a process of this machine. */
final class EmbeddedServer implements AutoCloseable {

    private static final Duration STARTUP = Duration.ofSeconds(60);

    private final EmbeddedPostgres postgres;

    private EmbeddedServer(EmbeddedPostgres postgres) {
        this.postgres = postgres;
    }

    /** Starts a server that stops, and removes its data, on close or at the end of this JVM. */
    static EmbeddedServer start() {
        var builder = EmbeddedPostgres.builder().setPGStartupWait(STARTUP);
        PostgresServer.SETTINGS.forEach(builder::setServerConfig);
        try {
            return new EmbeddedServer(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    PgAddress address() {
        return new PgAddress("127.0.0.1", postgres.getPort(), "postgres", "postgres", "");
    }

    /** Stops without a checkpoint, as a crash would, and starts again on the same data and port. */
    void restart() throws IOException, InterruptedException, SQLException {
        Path data = Path.of(PostgresServer.show(address(), "data_directory"));
        List<String> command = new ArrayList<>();
        // PostgreSQL refuses to run as root; a user namespace of its own hides that it does.
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("unshare", "-U"));
        }
        command.addAll(List.of(pgCtl(data).toString(), "restart", "-w", "-m", "immediate"));
        command.addAll(List.of("-t", String.valueOf(STARTUP.toSeconds()), "-D", data.toString()));
        // The new postmaster inherits these streams: a pipe would keep us waiting for its end.
        Process restart =
                new ProcessBuilder(command)
                        .redirectOutput(Redirect.DISCARD)
                        .redirectError(Redirect.DISCARD)
                        .start();
        if (!restart.waitFor(2 * STARTUP.toSeconds(), TimeUnit.SECONDS)
                || restart.exitValue() != 0) {
            throw new IllegalStateException("failed to restart PostgreSQL: " + command);
        }
    }

    /** The binaries lie where the running postmaster came from. */
    private static Path pgCtl(Path data) throws IOException {
        long postmaster = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0));
        return ProcessHandle.of(postmaster)
                .flatMap(process -> process.info().command())
                .map(executable -> Path.of(executable).resolveSibling("pg_ctl"))
                .orElseThrow(
                        () -> new IllegalStateException("no postmaster with pid " + postmaster));
    }

    @Override
    public void close() {
        try {
            postgres.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
