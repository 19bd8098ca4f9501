package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.Fault;
import io.onlyonce.tx.CommitOutcomeUnknownException;
import io.onlyonce.tx.Isolation;
import io.onlyonce.tx.TransactionTemplate;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** What is said when a COMMIT of ours, or of somebody else, cannot be looked into. */
class UnresolvedCommitTest extends ProxiedBank {

    private static final int UNTIL_DISARMED = 100_000;

    @ParameterizedTest
    @EnumSource(names = {"CUT_REQUEST", "CUT_ANSWER", "SILENCE_ANSWER"})
    void a_database_out_of_reach_until_the_deadline_leaves_the_outcome_unknown(Fault fault)
            throws Exception {
        String id = Bank.id("unreachable");
        boolean durable = fault != Fault.CUT_REQUEST;
        long start = System.nanoTime();

        assertThatThrownBy(() -> depositThen(id, Isolation.READ_COMMITTED, () -> breakFor(fault)))
                .isInstanceOf(CommitOutcomeUnknownException.class);

        // the deadline, the socket's grace, and a wait for the pool
        assertThat((System.nanoTime() - start) / 1_000_000).isBetween(900L, 10_000L);
        assertThat(runs).hasValue(1);
        proxy.pass();
        proxy.release();
        Outcome<String> later = deposit(id, at(Isolation.READ_COMMITTED));
        assertThat(later).isEqualTo(new Outcome<>(durable ? "receipt 1" : "receipt 2", durable));
        assertOneEffect(id);
    }

    private void breakFor(Fault fault) {
        proxy.arm(fault, EVERY_TRIP, UNTIL_DISARMED);
    }

    @ParameterizedTest
    @EnumSource(names = {"REPEATABLE_READ", "SERIALIZABLE"})
    void claims_that_lose_until_the_deadline_leave_the_outcome_unknown(Isolation isolation)
            throws Exception {
        String id = Bank.id("aborted");
        db.execute("CREATE TABLE IF NOT EXISTS storm (id text PRIMARY KEY)");
        db.execute(
                """
                CREATE OR REPLACE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF EXISTS (SELECT FROM storm WHERE id = new.command_id) THEN
                        RAISE EXCEPTION 'lost' USING ERRCODE = '40001';
                    END IF;
                    RETURN new;
                END $$;
                CREATE OR REPLACE TRIGGER lose BEFORE INSERT ON onlyonce.command_dedup
                    FOR EACH ROW EXECUTE FUNCTION lose()
                """);

        // The first transaction's snapshot is older than the storm, those of its claims are not.
        assertThatThrownBy(
                        () ->
                                depositThen(
                                        id,
                                        isolation,
                                        () -> {
                                            db.execute("INSERT INTO storm VALUES ('" + id + "')");
                                            proxy.cutAnswer("COMMIT");
                                        }))
                .isInstanceOf(CommitOutcomeUnknownException.class);

        assertThat(runs).hasValue(1);
        assertThat(deposit(id, at(Isolation.READ_COMMITTED)))
                .isEqualTo(new Outcome<>("receipt 1", true));
        assertOneEffect(id);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void an_unknown_commit_of_the_works_own_is_not_taken_for_ours(boolean afterOneOfOurs)
            throws Exception {
        String id = Bank.id("nested");
        var nested = new TransactionTemplate(db.through(proxy));
        List<CommitOutcomeUnknownException> thrown = new ArrayList<>();
        if (afterOneOfOurs) {
            proxy.cutRequest("COMMIT");
        }

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        work -> {
                                            depositNow(work, id);
                                            if (!afterOneOfOurs || runs.get() == 2) {
                                                proxy.cutAnswer("COMMIT");
                                                thrown.add(unknown(nested));
                                                throw thrown.get(0);
                                            }
                                            return "ours is lost";
                                        }))
                .isSameAs(thrown.get(0));

        assertThat(runs).hasValue(afterOneOfOurs ? 2 : 1);
        assertNothing(id);
        assertThat(deposit(id, at(Isolation.READ_COMMITTED)).replayed()).isFalse();
    }

    private static CommitOutcomeUnknownException unknown(TransactionTemplate nested)
            throws SQLException {
        try {
            nested.execute(connection -> 1);
            throw new AssertionError("the proxy did not strike");
        } catch (CommitOutcomeUnknownException e) {
            return e;
        }
    }

    private interface Step {
        void run() throws SQLException;
    }

    private Outcome<String> depositThen(String id, Isolation isolation, Step step)
            throws SQLException {
        return commands.run(
                Bank.command(id),
                String.class,
                with(isolation, ProxiedBank::brief),
                work -> {
                    String receipt = depositNow(work, id);
                    step.run();
                    return receipt;
                });
    }
}
