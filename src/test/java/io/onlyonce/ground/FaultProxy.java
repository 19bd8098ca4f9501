package io.onlyonce.ground;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A TCP proxy in front of PostgreSQL that passes every byte, counts round trips, and breaks the
 * network where a test says so.
 *
 * <p>A fault strikes the next flight that executes a statement containing the keyword as a whole
 * word, in any case, on any connection; then it is used up. Arming a fault replaces the one armed
 * before. A flight is what a client sends before it waits; its last message is a Sync or a Query.
 * Encryption is refused on the server's behalf. Safe for use by many threads.
 */
public final class FaultProxy implements AutoCloseable {

    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private final Target target;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final FlightLog log = new FlightLog();
    private volatile ArmedFault armed = ArmedFault.NONE;
    private volatile Duration delay = Duration.ZERO;

    private FaultProxy(Target target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 200, InetAddress.getByName("127.0.0.1"));
        daemon("accept-" + listener.getLocalPort(), this::accept);
    }

    /** Where a server listens. */
    public record Target(String host, int port) {}

    /** A proxy on a free port of this machine. */
    public static FaultProxy to(String host, int port) throws IOException {
        return to(new Target(host, port));
    }

    /** A proxy on a free port of this machine. */
    public static FaultProxy to(Target target) throws IOException {
        return new FaultProxy(target);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Disarms the fault and ends the delay; links already struck stay as they are. */
    public void pass() {
        armed = ArmedFault.NONE;
        delay = Duration.ZERO;
    }

    /** Holds every flight and every answer up for this long, in each direction. */
    public void delay(Duration each) {
        delay = each;
    }

    /** {@link Fault#CUT_REQUEST} at the next flight with this statement. */
    public void cutRequest(String keyword) {
        arm(Fault.CUT_REQUEST, keyword, 1);
    }

    /** {@link Fault#CUT_ANSWER} at the next flight with this statement. */
    public void cutAnswer(String keyword) {
        arm(Fault.CUT_ANSWER, keyword, 1);
    }

    /** {@link Fault#SILENCE} at the next flight with this statement. */
    public void silenceOn(String keyword) {
        arm(Fault.SILENCE, keyword, 1);
    }

    /** {@link Fault#SILENCE_ANSWER} at the next flight with this statement. */
    public void silenceAnswerOn(String keyword) {
        arm(Fault.SILENCE_ANSWER, keyword, 1);
    }

    /** Strikes the next so many flights with this statement. */
    public void arm(Fault fault, String keyword, int times) {
        armed = new ArmedFault(fault, keyword, times);
    }

    /** Returns once the fault armed last has struck every time it was armed for, within 10 s. */
    public void awaitFired() throws InterruptedException {
        awaitFired(DEADLINE);
    }

    /**
     * Returns once the fault armed last has struck: when the client was reset, the request held
     * back, or, for {@link Fault#SILENCE_ANSWER}, when the server's answer had arrived here.
     */
    public void awaitFired(Duration deadline) throws InterruptedException {
        if (armed == ArmedFault.NONE) {
            throw new IllegalStateException("arm a fault first");
        }
        armed.awaitFired(deadline);
    }

    /** True once the fault armed last has struck every time it was armed for. */
    public boolean hasFired() {
        return armed != ArmedFault.NONE && armed.hasFired();
    }

    /** Resets every present connection now, silent ones too. */
    public void reset() {
        links.forEach(Link::cut);
    }

    /** Closes the silent connections, so that the server learns that its client is gone. */
    public void release() {
        links.stream().filter(Link::silent).forEach(Link::close);
    }

    /** Sends the server what {@link Fault#SILENCE} held back, as a network does that was slow. */
    public void deliverLate() throws IOException {
        for (Link link : links) {
            link.deliverLate();
        }
    }

    /** How many flights clients sent since the counters were reset. */
    public int roundTrips() {
        return log.flights().size();
    }

    /** The SQL executed by each flight, in the order in which the flights reached the proxy. */
    public List<List<String>> flights() {
        return log.flights();
    }

    /** The SQL executed, in order. */
    public List<String> statements() {
        return log.flights().stream().flatMap(List::stream).toList();
    }

    public void resetCounters() {
        log.clear();
    }

    /** Stops listening and closes every connection. */
    @Override
    public void close() throws IOException {
        listener.close();
        links.forEach(Link::close);
    }

    ArmedFault strike(Flight flight) {
        ArmedFault fault = armed;
        return fault.takes(flight) ? fault : ArmedFault.NONE;
    }

    FlightLog log() {
        return log;
    }

    long delayNanos() {
        return delay.toNanos();
    }

    void forget(Link link) {
        links.remove(link);
    }

    void daemon(String name, Runnable work) {
        var thread = new Thread(work, "fault-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                connect(client);
            } catch (IOException e) {
                // closed, or a client gave up while it was being accepted: the next one may not
            }
        }
    }

    private void connect(Socket client) throws IOException {
        try {
            var server = new Socket();
            server.connect(
                    new InetSocketAddress(target.host(), target.port()), (int) DEADLINE.toMillis());
            var link = new Link(this, client, server);
            links.add(link);
            link.start();
            if (listener.isClosed()) {
                link.close();
            }
        } catch (IOException e) {
            client.close(); // no server behind the proxy looks like a server that hangs up
        }
    }
}
