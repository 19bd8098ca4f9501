package io.onlyonce.demo.story;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicBoolean;

/** A line to the database that can be cut: the server has heard, the client never hears back. */
final class Wire implements AutoCloseable {

    private final String host;
    private final int port;
    private final ServerSocket door;
    private final AtomicBoolean cut = new AtomicBoolean();

    Wire(String host, int port) throws IOException {
        this.host = host;
        this.port = port;
        door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    int port() {
        return door.getLocalPort();
    }

    /** The server's next answer is swallowed, and its connection ends there. */
    void cutNextAnswer() {
        cut.set(true);
    }

    @Override
    public void close() throws IOException {
        door.close();
    }

    private void accept() {
        while (!door.isClosed()) {
            try {
                Socket client = door.accept();
                Socket server = new Socket(host, port);
                client.setTcpNoDelay(true);
                server.setTcpNoDelay(true);
                start(() -> copy(client, server, false));
                start(() -> copy(server, client, true));
            } catch (IOException e) {
                // the door was closed, or nobody is at home: the client hears of it
            }
        }
    }

    private void copy(Socket from, Socket to, boolean answers) {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[8192];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                if (answers && cut.compareAndSet(true, false)) {
                    return;
                }
                out.write(buffer, 0, length);
            }
        } catch (IOException e) {
            // either end has gone, and takes the other with it
        }
    }

    private static void start(Runnable work) {
        var thread = new Thread(work, "wire");
        thread.setDaemon(true);
        thread.start();
    }
}
