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
        final Queue<UUID> sent = new ConcurrentLinkedQueue<>();

        boolean send(UUID id, String key, byte[] payload) {
            return sent.add(id);
        }
    }

    public void relay() throws Exception {
        var deposited = OutboxEvent.of("k-1", "Account", "A-1", "Deposited", bytes("{}"));
        for (int i = 0; i < 2; i++) {
            once.transactions().execute(c -> once.outbox().append(c, "acme", deposited));
        }
        var broker = new Broker();
        //> Outbox and relay
        Await.until(Duration.ofSeconds(10), () -> !broker.sent.isEmpty(), "the event is sent");
        relay.close();
        assertThat(broker.sent).hasSize(1);
    }
}
