package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.Levels;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.sql.Connection;
import java.sql.SQLException;

class TransactionOnH2Test extends TransactionContract {

    TransactionOnH2Test() {
        super(TestDatabase::h2);
    }

    @Override
    String timeouts() throws SQLException {
        try (Connection connection = pool.getConnection();
                var statement = connection.createStatement();
                var row =
                        statement.executeQuery(
                                "SELECT LOCK_TIMEOUT() || '/' || (SELECT setting_value FROM"
                                        + " INFORMATION_SCHEMA.SETTINGS WHERE setting_name ="
                                        + " 'QUERY_TIMEOUT')")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void the_stated_isolation_level_holds_and_is_put_back() throws Exception {
        for (Isolation isolation : Isolation.values()) {
            int level =
                    tx.execute(
                            TransactionOptions.readCommitted().withIsolation(isolation),
                            Connection::getTransactionIsolation);
            assertThat(level).isEqualTo(Levels.jdbc(isolation));
        }
    }
}
