package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** A connection that already is in somebody's transaction is left as it was found. */
class BorrowedTransactionTest extends DatabaseContract {

    BorrowedTransactionTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void create() throws Exception {
        db.execute("CREATE TABLE note (id int)");
    }

    @BeforeEach
    void empty() throws Exception {
        db.execute("DELETE FROM note");
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String setting(Connection connection, String name) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }

    private static TransactionOptions at(Isolation isolation) {
        return TransactionOptions.readCommitted()
                .withIsolation(isolation)
                .withLockTimeout(Duration.ofMillis(7))
                .withStatementTimeout(Duration.ofMillis(900));
    }

    @ParameterizedTest
    @EnumSource
    void an_outer_transaction_that_has_written_is_refused_and_goes_on(Isolation isolation)
            throws Exception {
        try (Connection outer = db.connect()) {
            outer.setAutoCommit(false);
            execute(outer, "SET LOCAL lock_timeout = '33s'; SET LOCAL statement_timeout = '44s'");
            execute(outer, "INSERT INTO note VALUES (1)");
            var template =
                    new TransactionTemplate(
                            new OneConnection(outer), at(isolation).poolAutoCommitOff());

            assertThatThrownBy(() -> template.execute(connection -> 1))
                    .isInstanceOf(BorrowedTransactionException.class);

            assertThat(setting(outer, "lock_timeout")).isEqualTo("33s");
            assertThat(setting(outer, "statement_timeout")).isEqualTo("44s");
            outer.commit();
        }
        assertThat(db.count("SELECT count(*) FROM note")).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void what_a_pools_validation_query_began_is_no_transaction(Isolation isolation)
            throws Exception {
        var pool =
                db.pool(
                        1,
                        config -> {
                            config.setAutoCommit(false);
                            config.setConnectionInitSql("SELECT 1");
                        });
        try (Connection warm = pool.getConnection()) {
            execute(warm, "SELECT 1");
        }
        try (Connection outer = db.connect()) {
            outer.setAutoCommit(false);
            execute(outer, "SELECT count(*) FROM note");
            for (var source : new javax.sql.DataSource[] {pool, new OneConnection(outer)}) {
                new TransactionTemplate(source, at(isolation).poolAutoCommitOff())
                        .execute(
                                connection -> {
                                    execute(connection, "INSERT INTO note VALUES (1)");
                                    assertThat(setting(connection, "transaction_isolation"))
                                            .isEqualTo(
                                                    isolation
                                                            .name()
                                                            .toLowerCase()
                                                            .replace('_', ' '));
                                    return 1;
                                });
            }
        }
        assertThat(db.count("SELECT count(*) FROM note")).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void a_begin_in_sql_text_is_refused_and_autocommit_comes_back(Isolation isolation)
            throws Exception {
        try (Connection outer = db.connect()) {
            execute(outer, "BEGIN");
            execute(outer, "INSERT INTO note VALUES (9)");

            assertThatThrownBy(
                            () ->
                                    new TransactionTemplate(new OneConnection(outer), at(isolation))
                                            .execute(connection -> 1))
                    .isInstanceOf(BorrowedTransactionException.class);

            assertThat(outer.getAutoCommit()).isTrue();
        }
    }
}
