package docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.payload.*;
import java.sql.*;

public class commands extends Harness {

    record Receipt(String account) {}

    static class Ledger {
        Receipt post(Connection connection, String account) throws SQLException {
            update(connection, "INSERT INTO ledger VALUES (?)", account);
            return new Receipt(account);
        }
    }

    public void low_road() throws Exception {
        db.execute("CREATE TABLE ledger (account text)");
        var scope = new CommandScope("acme", "checkout", "account.deposit");
        var command = Command.of(scope, "c-1", PayloadHash.ofJson("{}"));
        assertThat(claimed(command)).isInstanceOf(Claim.Started.class);
        assertThat(claimed(command)).isInstanceOfSatisfying(
                Claim.Replayed.class, r -> assertThat(r.value(Receipt.class)).isEqualTo(new Receipt("A-1")));
        assertThat(db.count("SELECT count(*) FROM ledger")).isEqualTo(1);
    }

    private Claim claimed(Command command) throws SQLException {
        var ledger = new Ledger();
        CommandDedup dedup = once.dedup();
        String request = "A-1";
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            //> Low road: tryStart … complete
            return claim;
        }
    }
}
