package io.onlyonce.ground;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * One client's connection and the connection to the server behind it, with a thread each way.
 *
 * <p>Once a fault has begun, nothing more passes from the client, and from the server only answers
 * to earlier flights; the link then no longer ends by itself.
 */
final class Link {

    private final FaultProxy proxy;
    private final Socket client;
    private final Socket server;
    private final AtomicReference<Flight> heldBack = new AtomicReference<>();

    private long asked; // answers the server owes in all; touched by the client's thread only
    private volatile long owed; // how many of them still belong to the client when a fault begins
    private volatile long struck; // up to which one the fault swallows them
    private volatile ArmedFault begun = ArmedFault.NONE;

    Link(FaultProxy proxy, Socket client, Socket server) throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
    }

    void start() {
        proxy.daemon("client-" + client.getPort(), this::pumpRequests);
        proxy.daemon("server-" + client.getPort(), this::pumpAnswers);
    }

    /** Ends the client's connection with a reset and the server's with a goodbye. */
    void cut() {
        try {
            client.setSoLinger(true, 0);
        } catch (IOException e) {
            // closed already: nobody is left to be reset
        }
        close();
    }

    /** Ends both connections and leaves the proxy. */
    void close() {
        proxy.forget(this);
        try (client;
                server) {
            // closes both, whatever the first one says
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean silent() {
        return begun.kind() == Fault.SILENCE || begun.kind() == Fault.SILENCE_ANSWER;
    }

    /** Sends the request that a silence held back, if there is one; its answer stays unheard. */
    void deliverLate() throws IOException {
        Optional<Flight> late = Optional.ofNullable(heldBack.getAndSet(null));
        if (late.isPresent()) {
            server.getOutputStream().write(late.get().bytes());
        }
    }

    private void pumpRequests() {
        try {
            var requests = new FlightReader(client.getInputStream());
            server.getOutputStream().write(requests.startup(client.getOutputStream()));
            asked = 1; // the startup packet is answered by a ReadyForQuery like any flight
            Optional<Flight> flight = requests.next();
            while (flight.isPresent()) {
                if (begun == ArmedFault.NONE) {
                    pass(flight.get());
                }
                flight = requests.next();
            }
        } catch (IOException e) {
            // one side went away: the same end as a goodbye
        }
        if (begun == ArmedFault.NONE) {
            close();
        }
    }

    private void pass(Flight flight) throws IOException {
        proxy.log().add(flight);
        ArmedFault fault = proxy.strike(flight);
        pause();
        if (fault == ArmedFault.NONE) {
            send(flight);
            return;
        }
        owed = fault.kind().strikesAnswer() ? asked : 0;
        struck = owed + flight.answers();
        begun = fault;
        if (fault.kind().strikesAnswer()) {
            send(flight);
            return;
        }
        if (fault.kind() == Fault.SILENCE) {
            heldBack.set(flight);
        } else {
            cut();
        }
        fault.fired();
    }

    private void send(Flight flight) throws IOException {
        asked += flight.answers();
        server.getOutputStream().write(flight.bytes());
    }

    private void pumpAnswers() {
        try {
            copyAnswers();
        } catch (IOException e) {
            // one side went away: the same end as a goodbye
        }
        if (begun.kind() == Fault.CUT_ANSWER) {
            cut();
        } else if (!silent()) {
            close();
        }
    }

    private void copyAnswers() throws IOException {
        var in = new DataInputStream(new BufferedInputStream(server.getInputStream(), 1 << 16));
        var out = new DataOutputStream(new BufferedOutputStream(client.getOutputStream(), 1 << 16));
        long answered = 0;
        boolean first = true;
        for (int type = in.read(); type >= 0; type = in.read()) {
            int length = in.readInt();
            byte[] body = in.readNBytes(length - 4);
            if (first) {
                pause();
            }
            first = type == 'Z';
            ArmedFault fault = begun;
            if (fault == ArmedFault.NONE || answered < owed) {
                out.write(type);
                out.writeInt(length);
                out.write(body);
                if (first || in.available() == 0) {
                    out.flush();
                }
            }
            answered += first ? 1 : 0;
            if (first && fault.kind().strikesAnswer() && answered == struck) {
                if (fault.kind() == Fault.CUT_ANSWER) {
                    cut();
                }
                fault.fired();
            }
        }
    }

    private void pause() {
        long nanos = proxy.delayNanos();
        long end = System.nanoTime() + nanos;
        while (nanos > 0) {
            LockSupport.parkNanos(nanos);
            nanos = end - System.nanoTime();
        }
    }
}
