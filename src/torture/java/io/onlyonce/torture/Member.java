package io.onlyonce.torture;

import io.onlyonce.ground.ChildJvm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The driver's hand on one client process: gives orders, kills, freezes, and starts a successor.
 */
final class Member implements AutoCloseable {

    private static final Duration FROZEN = Duration.ofMillis(1_500);
    private static final int PATIENCE_MILLIS = 120_000;

    private final Startup startup;
    private final List<String> args;
    private final ServerSocket listener;
    private final Runnable onCall;
    private ChildJvm child;
    private Socket socket;
    private BufferedReader in;
    private OutputStream out;

    Member(Startup startup, int index, long seed, List<String> address, Runnable onCall)
            throws IOException, InterruptedException {
        this.startup = startup;
        this.onCall = onCall;
        listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        listener.setSoTimeout(PATIENCE_MILLIS);
        args = new ArrayList<>(List.of(index + "", seed + "", listener.getLocalPort() + ""));
        args.addAll(address);
        start();
    }

    private void start() throws IOException {
        child = startup.start(args);
    }

    private void connect() throws IOException {
        if (socket == null) {
            try {
                socket = listener.accept();
            } catch (SocketTimeoutException e) {
                throw new IOException("a client did not start:\n" + log(), e);
            }
            socket.setSoTimeout(PATIENCE_MILLIS);
            socket.setTcpNoDelay(true);
            out = socket.getOutputStream();
            in =
                    new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        }
    }

    private void tell(String message) throws IOException {
        out.write((message + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** Gives an order and returns when it is carried out, by this process or its successors. */
    void order(String order) throws IOException, InterruptedException {
        boolean given = false;
        while (true) {
            connect();
            if (!given) {
                tell(order);
                given = true;
            }
            String message = heard();
            switch (message) {
                case "done" -> {
                    return;
                }
                case "call" -> onCall.run();
                case "kill" -> {
                    child.kill();
                    socket.close();
                    socket = null;
                    start();
                    given = false;
                }
                case "freeze" -> {
                    child.freeze();
                    TimeUnit.NANOSECONDS.sleep(FROZEN.toNanos());
                    child.thaw();
                    tell("thawed");
                }
                default -> {}
            }
        }
    }

    private String heard() throws IOException {
        try {
            String message = in.readLine();
            if (message != null) {
                return message;
            }
        } catch (SocketException e) {
            // as if it had said no more
        }
        throw new IOException("a client ended by itself:\n" + log());
    }

    void keepLog(Path file) throws IOException {
        Files.writeString(file, log());
    }

    private String log() {
        return String.join("\n", child.output()) + "\n" + String.join("\n", child.errors());
    }

    @Override
    public void close() throws IOException, InterruptedException {
        child.close();
        if (socket != null) {
            socket.close();
        }
        listener.close();
    }
}
