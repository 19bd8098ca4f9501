package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.payload.*;
import java.sql.*;

public class command extends Harness {

    record Receipt(String said) {}

    static class Accounts {
        int withdrawals;

        boolean covers(Connection connection, long amount) {
            return amount < 100;
        }

        Receipt withdraw(Connection connection, long amount) {
            withdrawals++;
            return new Receipt("paid " + amount);
        }
    }

    private final Accounts accounts = new Accounts();

    public void example() throws Exception {
        for (int i = 0; i < 2; i++) {
            assertThat(withdrawn("c-1", 5).said()).isEqualTo("paid 5");
            assertThat(withdrawn("c-2", 500).said()).isEqualTo("NOT_COVERED");
        }
        assertThat(accounts.withdrawals).isEqualTo(1);
    }

    private Receipt withdrawn(String id, long amount) throws SQLException {
        var command = Command.of(new CommandScope("acme", "ui", "withdraw"), id, PayloadHash.ofJson("{}"));
        //> example
    }
}
