package io.onlyonce.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Semaphore;

/** A client's line to the driver, which alone can kill and freeze it. */
final class Driver {

    private final BufferedReader in;
    private final OutputStream out;
    private final Semaphore thawed = new Semaphore(0);

    Driver(int port) throws IOException {
        var socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in =
                new BufferedReader(
                        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        out = socket.getOutputStream();
    }

    synchronized void tell(String message) {
        try {
            out.write((message + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            Runtime.getRuntime().halt(87); // the driver is gone
        }
    }

    /** The next order; the end of a freeze is none. */
    String order() throws IOException {
        while (true) {
            String line = in.readLine();
            if (line == null) {
                Runtime.getRuntime().halt(87);
            }
            if (!"thawed".equals(line)) {
                return line;
            }
            thawed.release();
        }
    }

    /** Never returns. */
    void killMe() {
        tell("kill");
        new Semaphore(0).acquireUninterruptibly();
    }

    /** Returns after this process has stood still for longer than every lease. */
    void freezeMe() {
        tell("freeze");
        thawed.acquireUninterruptibly();
    }
}
