package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.DatabaseContract;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

import java.sql.Connection;
import java.sql.SQLException;

/** A table of notes, and a pool of one connection, so that what leaks meets the next user. */
abstract class TransactionGround extends DatabaseContract {

    HikariDataSource pool;
    TransactionTemplate tx;

    TransactionGround(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void prepare() throws Exception {
        db.execute("CREATE TABLE note (id INT PRIMARY KEY, body VARCHAR(100))");
        pool = db.pool(1);
        tx = new TransactionTemplate(pool);
    }

    @AfterEach
    void everything_is_given_back_as_it_came() throws Exception {
        try (Connection connection = pool.getConnection()) {
            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.isReadOnly()).isFalse();
            assertThat(connection.getTransactionIsolation())
                    .isEqualTo(Connection.TRANSACTION_READ_COMMITTED);
            assertThat(connection.getNetworkTimeout()).isZero();
        }
        db.execute("DELETE FROM note");
    }

    long notes() throws SQLException {
        return db.count("SELECT COUNT(*) FROM note");
    }

    static int insert(Connection connection, int id) throws SQLException {
        try (var statement = connection.prepareStatement("INSERT INTO note VALUES (?, 'x')")) {
            statement.setInt(1, id);
            return statement.executeUpdate();
        }
    }
}
