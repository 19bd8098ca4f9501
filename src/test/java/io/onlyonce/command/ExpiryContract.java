package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.time.Duration;

/** What the two expiry times of a command promise on every database. */
abstract class ExpiryContract extends CommandGround {

    ExpiryContract(Opening opening) {
        super(opening);
    }

    @Test
    void an_expired_command_is_refused_and_a_forgotten_one_is_new() throws Exception {
        String id = Bank.id("expired");
        deposit(id);
        age(id, "expires_at", -1, "forget_at", 3600);

        assertThatThrownBy(() -> deposit(id)).isInstanceOf(CommandExpiredException.class);
        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id, "{\"amount\":11}"),
                                        String.class,
                                        work -> "x"))
                .as("mismatch comes before expired")
                .isInstanceOf(PayloadMismatchException.class);
        assertThat(Bank.effects(db, id)).isEqualTo(1);

        age(id, "expires_at", -2, "forget_at", -1);
        assertThat(commands.run(Bank.command(id, "{\"amount\":12}"), String.class, w -> "again"))
                .isEqualTo(new Outcome<>("again", false));
        assertThat(commands.run(Bank.command(id, "{\"amount\":12}"), String.class, w -> "x"))
                .isEqualTo(new Outcome<>("again", true));
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void an_expired_command_runs_again_if_asked_to(Isolation isolation) throws Exception {
        String id = Bank.id("again");
        deposit(id, at(isolation));
        age(id, "expires_at", -1, "forget_at", 3600);
        Command command = Bank.command(id).againAfterExpiry();

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        command,
                                        String.class,
                                        at(isolation),
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            throw new IOException("not now");
                                        }))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> deposit(id))
                .as("the failed attempt changed nothing")
                .isInstanceOf(CommandExpiredException.class);

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        command,
                                        String.class,
                                        at(isolation),
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            throw new CommandRejectedException("NO", "x");
                                        }))
                .isInstanceOf(CommandRejectedException.class);
        assertThatThrownBy(() -> deposit(id)).isInstanceOf(CommandRejectedException.class);
        age(id, "expires_at", -1, "forget_at", 3600);

        assertThat(commands.run(command, String.class, at(isolation), work -> "two").replayed())
                .isFalse();
        assertThat(deposit(id)).isEqualTo(new Outcome<>("two", true));
        assertThat(Bank.effects(db, id)).isEqualTo(1);
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @Test
    void commands_without_expiry_are_kept_for_ever() throws Exception {
        String id = Bank.id("for-ever");

        commands.run(Bank.command(id).withoutExpiry(), String.class, work -> "x");

        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '"
                                        + id
                                        + "' AND expires_at > CURRENT_TIMESTAMP + INTERVAL '999'"
                                        + " YEAR"))
                .isEqualTo(1);
        assertThat(commands.run(Bank.command(id), String.class, work -> "y").replayed()).isTrue();
    }

    @Test
    void both_expiry_times_are_counted_from_the_start() throws Exception {
        String id = Bank.id("times");

        commands.run(
                Bank.command(id).withTtl(Duration.ofHours(1), Duration.ofHours(2)),
                String.class,
                work -> "x");

        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '"
                                        + id
                                        + "' AND expires_at = started_at + INTERVAL '1' HOUR AND"
                                        + " forget_at = started_at + INTERVAL '3' HOUR AND"
                                        + " finished_at >= started_at"))
                .isEqualTo(1);
    }
}
