package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.TestDatabase;
import io.onlyonce.sql.SqlState;
import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

class CommandDedupOnPostgresTest extends CommandDedupContract {

    CommandDedupOnPostgresTest() {
        super(TestDatabase::postgres);
    }

    @Test
    void a_claim_whose_transaction_was_ended_by_sql_text_completes_nothing() throws Exception {
        for (String end : new String[] {"COMMIT", "ROLLBACK"}) {
            String id = Bank.id("ended-by-text");
            try (Connection connection = begin();
                    Statement statement = connection.createStatement()) {
                Claim.Started stale = started(connection, id);
                statement.execute(end);

                assertThatThrownBy(() -> dedup.complete(connection, stale, "stale"))
                        .isInstanceOf(ClaimLostException.class);
                connection.rollback();
            }
            assertThat(ask(id))
                    .isInstanceOf(
                            end.equals("COMMIT")
                                    ? Claim.OutcomeUnknown.class
                                    : Claim.Started.class);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"REPEATABLE_READ", "SERIALIZABLE"})
    void a_command_committed_after_the_snapshot_is_40001(Isolation isolation) throws Exception {
        String id = Bank.id("snapshot");
        try (Connection connection = begin(isolation)) {
            Bank.execute(connection, "SELECT count(*) FROM account");
            once.commands().run(Bank.command(id), String.class, work -> "theirs");

            assertThatThrownBy(() -> dedup.tryStart(connection, Bank.command(id)))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e ->
                                    assertThat(e.getSQLState())
                                            .isEqualTo(SqlState.SERIALIZATION_FAILURE))
                    .message()
                    .doesNotContain(id);
            connection.rollback();
            assertThat(dedup.tryStart(connection, Bank.command(id)))
                    .isInstanceOf(Claim.Replayed.class);
        }
    }

    @Test
    void a_finish_in_an_aborted_transaction_fails() throws Exception {
        String id = Bank.id("aborted");
        try (Connection connection = begin()) {
            Claim.Started started = started(connection, id);
            assertThatThrownBy(() -> Bank.execute(connection, "SELECT 1/0"))
                    .isInstanceOf(SQLException.class);

            assertThatThrownBy(() -> dedup.complete(connection, started, "x"))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e ->
                                    assertThat(e.getSQLState())
                                            .isEqualTo(SqlState.IN_FAILED_TRANSACTION));
        }
    }

    @Test
    void an_unfinished_claim_can_be_found_by_its_forget_time_and_is_hot_when_finished()
            throws Exception {
        String id = Bank.id("marker");
        abandon(id);

        assertThat(
                        db.count(
                                "SELECT count(*) FROM onlyonce.command_dedup WHERE forget_at ="
                                        + " '-infinity' AND command_id = '"
                                        + id
                                        + "'"))
                .isEqualTo(1);
    }
}
