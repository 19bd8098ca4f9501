package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.*;
import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.outbox.*;
import io.onlyonce.payload.*;
import java.sql.*;
import java.time.Duration;

public class onlyonce extends Harness {

    record Receipt(String account) {}

    static class Ledger {
        Receipt post(Connection connection, String account, long amount) throws SQLException {
            update(connection, "INSERT INTO ledger VALUES (?, ?)", account, amount);
            return new Receipt(account);
        }
    }

    public void example() throws Exception {
        db.execute("CREATE TABLE ledger (account text, amount bigint)");
        assertThat(deposit().replayed()).isFalse();
        assertThat(deposit()).isEqualTo(new Outcome<>(new Receipt("A-1"), true));
        assertThat(db.count("SELECT count(*) FROM ledger")).isEqualTo(1);
    }

    private Outcome<Receipt> deposit() throws Exception {
        var ledger = new Ledger();
        String commandId = "c-1", account = "A-1";
        long amount = 5;
        byte[] body = bytes("{}");
        //> example
        return outcome;
    }
}
