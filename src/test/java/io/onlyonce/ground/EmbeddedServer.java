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
    private final Path data;
    private final List<String> pgCtl;
    private final ServerGuard guard;

    private EmbeddedServer(EmbeddedPostgres postgres) throws IOException, SQLException {
        this.postgres = postgres;
        this.data = Path.of(PostgresServer.show(address(), "data_directory"));
        this.pgCtl = pgCtl(data);
        this.guard = ServerGuard.of(data, pgCtl);
    }

    /** Starts a server that stops, and removes its data, on close or however this JVM ends. */
    static EmbeddedServer start() {
        var builder = EmbeddedPostgres.builder().setPGStartupWait(STARTUP);
        PostgresServer.SETTINGS.forEach(builder::setServerConfig);
        try {
            return new EmbeddedServer(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException e) {
            throw new IllegalStateException("the embedded PostgreSQL does not answer", e);
        }
    }

    PgAddress address() {
        return new PgAddress("127.0.0.1", postgres.getPort(), "postgres", "postgres", "");
    }

    /** Stops without a checkpoint, as a crash would, and starts again on the same data and port. */
    void restart() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(pgCtl);
        command.addAll(List.of("restart", "-w", "-m", "immediate", "-D", data.toString()));
        command.addAll(List.of("-t", String.valueOf(STARTUP.toSeconds())));
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

    @Override
    public void close() {
        try (guard) {
            postgres.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The control program lies where the running postmaster came from. */
    private static List<String> pgCtl(Path data) throws IOException {
        long postmaster = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0));
        String program =
                ProcessHandle.of(postmaster)
                        .flatMap(process -> process.info().command())
                        .map(executable -> Path.of(executable).resolveSibling("pg_ctl").toString())
                        .orElseThrow(
                                () -> new IllegalStateException("no postmaster " + postmaster));
        // PostgreSQL refuses to run as root; a user namespace of its own hides that it does.
        return System.getProperty("user.name").equals("root")
                ? List.of("unshare", "-U", program)
                : List.of(program);
    }
}
