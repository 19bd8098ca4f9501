package docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.ground.Await;
import io.onlyonce.outbox.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ConcurrentLinkedQueue;

public class outbox extends Harness {

    static class Broker {
        final Queue<String> sent = new ConcurrentLinkedQueue<>();
        boolean hasRefused;

        boolean send(UUID id, String key, byte[] payload) {
            boolean refuses = key.equals("k-1") && !hasRefused;
            hasRefused |= refuses;
            return !refuses && sent.add(key);
        }
    }

    public void relay() throws Exception {
        var first = OutboxEvent.of("k-1", "Account", "A-1", "Deposited", bytes("{}"));
        var second = OutboxEvent.of("k-2", "Account", "A-1", "Deposited", bytes("{}"));
        for (int i = 0; i < 2; i++) {
            once.transactions().execute(c -> once.outbox().append(c, "acme", List.of(first, second)));
        }
        var broker = new Broker();
        //> Outbox and relay
        Await.until(Duration.ofSeconds(10), () -> relay.stats().published() == 2, "both are sent");
        relay.close();
        assertThat(broker.hasRefused).isTrue();
        assertThat(broker.sent).containsExactly("k-1", "k-2");
    }
}
