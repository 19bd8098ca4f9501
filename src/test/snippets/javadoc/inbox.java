package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.inbox.*;
import java.sql.*;
import java.util.*;

public class inbox extends Harness {

    static class Invoices {
        int added;

        void add(Connection connection, byte[] payload) {
            added++;
        }
    }

    record Broker(List<String> acknowledged) {
        void acknowledge(String id) {
            acknowledged.add(id);
        }
    }

    private final Invoices invoices = new Invoices();
    private final Broker broker = new Broker(new ArrayList<>());

    public void example() throws Exception {
        receive("e-1");
        receive("e-1");
        assertThat(invoices.added).isEqualTo(1);
        assertThat(broker.acknowledged()).hasSize(2);
    }

    private void receive(String eventId) throws SQLException {
        byte[] payload = bytes("{}");
        //> example
    }
}
