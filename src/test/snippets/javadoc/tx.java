package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.tx.*;
import java.sql.*;

public class tx extends Harness {

    static class Ledger {
        long sum(Connection connection) throws SQLException {
            return number(connection, "SELECT 42");
        }
    }

    public void example() throws Exception {
        var ledger = new Ledger();
        //> example
        assertThat(total).isEqualTo(42);
    }
}
