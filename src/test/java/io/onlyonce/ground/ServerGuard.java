package io.onlyonce.ground;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Stops an embedded server and removes its data when this JVM ends without a goodbye.
 *
 * <p>Shutdown hooks do not run after SIGKILL; a pipe of which this JVM holds one end does close.
 */
final class ServerGuard implements AutoCloseable {

    private static final String SCRIPT =
            "trap '' INT TERM; cat; \"$@\" stop -w -m immediate -D \"$0\"; rm -rf \"$0\"";

    private final Process shell;

    private ServerGuard(Process shell) {
        this.shell = shell;
    }

    /** Guards the server on this data directory; {@code pgCtl} is the command to stop it with. */
    static ServerGuard of(Path data, List<String> pgCtl) throws IOException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", SCRIPT, data.toString()));
        command.addAll(pgCtl);
        return new ServerGuard(
                new ProcessBuilder(command)
                        .redirectOutput(Redirect.DISCARD)
                        .redirectError(Redirect.DISCARD)
                        .start());
    }

    /** Ends the watch; whatever the server left behind goes now. */
    @Override
    public void close() throws IOException {
        shell.getOutputStream().close();
    }
}
