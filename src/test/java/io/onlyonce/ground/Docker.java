package io.onlyonce.ground;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Asks cheaply whether a Docker engine answers, before Testcontainers asks at length and aloud. */
final class Docker {

    private static final byte[] PING =
            "GET /_ping HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private Docker() {}

    /** True if an engine answers within two seconds at DOCKER_HOST or at the usual socket. */
    static boolean answers() {
        String host = System.getenv().getOrDefault("DOCKER_HOST", "unix:///var/run/docker.sock");
        return CompletableFuture.supplyAsync(() -> answers(URI.create(host)))
                .completeOnTimeout(false, 2, TimeUnit.SECONDS)
                .exceptionally(refused -> false)
                .join();
    }

    private static boolean answers(URI host) {
        SocketAddress address =
                "unix".equals(host.getScheme())
                        ? UnixDomainSocketAddress.of(host.getPath())
                        : new InetSocketAddress(host.getHost(), host.getPort());
        try (SocketChannel channel = SocketChannel.open(address)) {
            channel.write(ByteBuffer.wrap(PING));
            return channel.read(ByteBuffer.allocate(16)) > 0;
        } catch (IOException e) {
            return false;
        }
    }
}
