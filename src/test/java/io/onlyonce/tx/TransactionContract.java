package io.onlyonce.tx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.ground.Await;

import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

/** What a transaction promises on every database. */
abstract class TransactionContract extends TransactionGround {

    TransactionContract(Opening opening) {
        super(opening);
    }

    @Test
    void work_that_returns_is_committed() throws Exception {
        int inserted = tx.execute(connection -> insert(connection, 1));

        assertThat(inserted).isEqualTo(1);

        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void null_is_a_value() throws Exception {
        Object value =
                tx.execute(
                        connection -> {
                            insert(connection, 1);
                            return null;
                        });

        assertThat(value).isNull();
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void a_checked_exception_rolls_back_and_passes_untouched() throws Exception {
        var failure = new IOException("disk");

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            insert(connection, 1);
                                            throw failure;
                                        }))
                .isSameAs(failure)
                .hasNoSuppressedExceptions();
        assertThat(notes()).isZero();
    }

    @Test
    void an_error_rolls_back_and_passes_untouched() throws Exception {
        var failure = new StackOverflowError();

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            insert(connection, 1);
                                            throw failure;
                                        }))
                .isSameAs(failure);
        assertThat(notes()).isZero();
    }

    @Test
    void an_sql_error_of_the_work_passes_unwrapped() throws Exception {
        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        connection -> {
                                            insert(connection, 1);
                                            return insert(connection, 1);
                                        }))
                .isInstanceOf(SQLException.class)
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("23505"));
        assertThat(notes()).isZero();
    }

    @Test
    void the_work_may_not_end_its_transaction() throws Exception {
        tx.execute(
                connection -> {
                    insert(connection, 1);
                    assertRefused("commit", connection::commit);
                    assertRefused("rollback", connection::rollback);
                    assertRefused("close", connection::close);
                    assertRefused("abort", () -> connection.abort(Runnable::run));
                    assertRefused("setAutoCommit", () -> connection.setAutoCommit(true));
                    assertRefused(
                            "setTransactionIsolation",
                            () ->
                                    connection.setTransactionIsolation(
                                            Connection.TRANSACTION_SERIALIZABLE));
                    connection.setAutoCommit(false); // changes nothing
                    return insert(connection, 2);
                });

        assertThat(notes()).isEqualTo(2);
    }

    @Test
    void no_way_around_leads_to_the_real_connection() throws Exception {
        tx.execute(
                connection -> {
                    try (var statement = connection.createStatement();
                            var prepared = connection.prepareStatement("SELECT 1");
                            var rows = prepared.executeQuery()) {
                        assertThat(statement.getConnection())
                                .isSameAs(connection)
                                .isEqualTo(connection);
                        assertThat(prepared.getConnection()).isSameAs(connection);
                        assertThat(rows.getStatement()).isSameAs(prepared);
                        assertThat(connection.getMetaData().getConnection()).isSameAs(connection);
                        assertThat(connection)
                                .hasSameHashCodeAs(connection)
                                .isNotEqualTo(statement);
                        assertThat(connection.toString()).startsWith("guarded ");
                        return assertRefused("commit", statement.getConnection()::commit);
                    }
                });
    }

    @Test
    void savepoints_and_unwrap_belong_to_the_work() throws Exception {
        tx.execute(
                connection -> {
                    insert(connection, 1);
                    var savepoint = connection.setSavepoint();
                    insert(connection, 2);
                    connection.rollback(savepoint);
                    return connection.unwrap(Connection.class);
                });

        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void a_connection_kept_beyond_its_transaction_refuses_everything() throws Exception {
        var kept = new AtomicReference<Connection>();
        tx.execute(
                connection -> {
                    kept.set(connection);
                    return insert(connection, 1);
                });

        assertRefused("prepareStatement", () -> insert(kept.get(), 2));
        assertRefused("getMetaData", () -> kept.get().getMetaData());
        assertThat(kept.get().isClosed()).isTrue();
        assertThatCode(kept.get()::close).doesNotThrowAnyException();
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void a_connection_borrowed_with_autocommit_off_is_refused_untouched() throws Exception {
        try (Connection outer = db.connect()) {
            outer.setAutoCommit(false);
            insert(outer, 1);
            var template = new TransactionTemplate(new OneConnection(outer));

            assertThatThrownBy(() -> template.execute(connection -> insert(connection, 2)))
                    .isInstanceOf(BorrowedTransactionException.class)
                    .hasMessageContaining("poolAutoCommitOff()");

            outer.commit();
        }
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void a_pool_with_autocommit_off_is_fine_once_declared() throws Exception {
        try (var off = new HikariDataSource()) {
            off.setDataSource(db.dataSource());
            off.setMaximumPoolSize(1);
            off.setAutoCommit(false);
            var template =
                    new TransactionTemplate(
                            off, TransactionOptions.readCommitted().poolAutoCommitOff());

            assertThatThrownBy(
                            () ->
                                    new TransactionTemplate(off)
                                            .execute(connection -> insert(connection, 1)))
                    .isInstanceOf(BorrowedTransactionException.class);
            template.execute(connection -> insert(connection, 2));
            template.execute(connection -> insert(connection, 3));
        }
        assertThat(notes()).isEqualTo(2);
    }

    @Test
    void a_transaction_in_progress_is_refused_even_when_autocommit_off_is_declared()
            throws Exception {
        try (Connection outer = db.connect()) {
            outer.setAutoCommit(false);
            insert(outer, 1);
            var template =
                    new TransactionTemplate(
                            new OneConnection(outer),
                            TransactionOptions.readCommitted().poolAutoCommitOff());

            assertThatThrownBy(() -> template.execute(connection -> insert(connection, 2)))
                    .isInstanceOf(BorrowedTransactionException.class)
                    .hasMessageContaining("in the middle of a transaction");

            outer.rollback();
        }
        assertThat(notes()).isZero();
    }

    @Test
    void read_only_is_put_back_as_it_was_where_a_driver_lets_the_work_change_it() throws Exception {
        try (Connection mine = db.connect()) {
            var lenient = new OneConnection(mine);

            new TransactionTemplate(lenient)
                    .execute(
                            connection -> {
                                connection.setReadOnly(true);
                                return connection.isReadOnly();
                            });

            assertThat(lenient.getConnection().isReadOnly()).isFalse();
            assertThat(mine.getAutoCommit()).isTrue();
        }
    }

    @Test
    void nothing_is_committed_after_the_deadline() throws Exception {
        var options = TransactionOptions.readCommitted().withDeadline(Duration.ofSeconds(2));

        assertThatThrownBy(
                        () ->
                                tx.execute(
                                        options,
                                        connection -> {
                                            insert(connection, 1);
                                            long end =
                                                    System.nanoTime()
                                                            + Duration.ofSeconds(2).toNanos();
                                            Await.until(
                                                    Duration.ofSeconds(5),
                                                    () -> System.nanoTime() > end,
                                                    "deadline");
                                            return 1;
                                        }))
                .isInstanceOf(DeadlineExceededException.class)
                .hasMessageContaining("before COMMIT");
        assertThat(notes()).isZero();
    }

    @Test
    void a_wait_for_a_lock_ends_with_its_timeout_and_the_next_user_has_none() throws Exception {
        db.execute("INSERT INTO note VALUES (7, 'held')");
        String before = timeouts();
        try (Connection holder = db.connect()) {
            holder.setAutoCommit(false);
            update(holder, 7);

            assertThatThrownBy(
                            () ->
                                    tx.execute(
                                            TransactionOptions.readCommitted()
                                                    .withStatementTimeout(Duration.ofSeconds(20))
                                                    .withLockTimeout(Duration.ofMillis(50)),
                                            connection -> update(connection, 7)))
                    .isInstanceOf(SQLException.class)
                    .satisfies(
                            e ->
                                    assertThat(((SQLException) e).getSQLState())
                                            .isIn("55P03", "HYT00"));
            holder.rollback();
        }
        assertThat(timeouts()).isEqualTo(before);
    }

    /** What the pool's one connection waits for locks and for statements. */
    abstract String timeouts() throws SQLException;

    @Test
    void mistakes_are_refused_with_a_sentence() {
        assertThatThrownBy(() -> new TransactionTemplate(null)).hasMessageContaining("dataSource");
        assertThatThrownBy(() -> new TransactionTemplate(pool, null))
                .hasMessageContaining("defaults");
        assertThatThrownBy(() -> tx.execute(null)).hasMessageContaining("work");
    }

    static int update(Connection connection, int id) throws SQLException {
        try (var statement =
                connection.prepareStatement("UPDATE note SET body = 'y' WHERE id = ?")) {
            statement.setInt(1, id);
            return statement.executeUpdate();
        }
    }

    /** Declared for the test's lambdas; asserts that the call is refused by name. */
    static boolean assertRefused(String call, ThrowableAssert.ThrowingCallable refused) {
        assertThatThrownBy(refused)
                .isInstanceOf(TransactionControlException.class)
                .hasMessageStartingWith(call + "() was refused");
        return true;
    }
}
