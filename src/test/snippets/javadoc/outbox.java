package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.ground.Await;
import io.onlyonce.outbox.*;
import java.sql.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ConcurrentLinkedQueue;

public class outbox extends Harness {

    static class Accounts {
        void open(Connection connection, String id) {}
    }

    record Broker(Queue<OutboxEvent> sent) {
        boolean send(OutboxEvent event) {
            return sent.add(event);
        }
    }

    public void example() throws Exception {
        var accounts = new Accounts();
        var broker = new Broker(new ConcurrentLinkedQueue<>());
        byte[] json = bytes("{}");
        //> example
        Await.until(Duration.ofSeconds(10), () -> !broker.sent().isEmpty(), "the event is sent");
        relay.close();
        assertThat(broker.sent()).extracting(OutboxEvent::key).containsExactly("opened:A-1");
    }
}
