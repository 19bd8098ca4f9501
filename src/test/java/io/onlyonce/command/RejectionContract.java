package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.tx.Isolation;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** What a "no" of the work promises on every database. */
abstract class RejectionContract extends CommandGround {

    RejectionContract(Opening opening) {
        super(opening);
    }

    @Test
    void a_rejection_undoes_the_work_and_is_replayed() throws Exception {
        String id = Bank.id("rejected");
        var runs = new AtomicInteger();
        CommandWork<String, RuntimeException> work =
                w -> {
                    runs.incrementAndGet();
                    Bank.deposit(w.connection(), "a", id);
                    w.outbox().append(Bank.event(id));
                    throw new CommandRejectedException("LIMIT", "only 5 left");
                };

        assertThatThrownBy(() -> commands.run(Bank.command(id), String.class, work))
                .isInstanceOfSatisfying(
                        CommandRejectedException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo("LIMIT");
                            assertThat(e.detail()).isEqualTo("only 5 left");
                            assertThat(e.replayed()).isFalse();
                        });
        assertThatThrownBy(() -> commands.run(Bank.command(id), String.class, work))
                .isInstanceOfSatisfying(
                        CommandRejectedException.class,
                        e -> {
                            assertThat(e.code()).isEqualTo("LIMIT");
                            assertThat(e.detail()).isEqualTo("only 5 left");
                            assertThat(e.replayed()).isTrue();
                        });

        assertThat(runs).hasValue(1);
        assertThat(Bank.effects(db, id)).isZero();
        assertThat(Bank.events(db, id)).isZero();
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void what_on_rejected_writes_commits_with_the_rejection(Isolation isolation) throws Exception {
        String id = Bank.id("on-rejected");
        RunOptions options =
                at(isolation)
                        .withOnRejected(
                                (connection, outbox, rejection) -> {
                                    Bank.execute(
                                            connection,
                                            "INSERT INTO audit VALUES (?, ?)",
                                            id,
                                            rejection.code());
                                    outbox.append(Bank.event(id));
                                });

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        options,
                                        work -> {
                                            Bank.deposit(work.connection(), "a", id);
                                            throw new CommandRejectedException("NO", "");
                                        }))
                .isInstanceOf(CommandRejectedException.class);

        assertThat(db.value("SELECT what FROM audit WHERE command = '" + id + "'", String.class))
                .contains("NO");
        assertThat(Bank.effects(db, id)).isEqualTo(1);
        assertThat(Bank.events(db, id)).isEqualTo(1);
    }

    @Test
    void a_failing_on_rejected_rolls_everything_back() throws Exception {
        String id = Bank.id("on-rejected-fails");
        var failure = new IllegalStateException("audit is down");
        RunOptions options =
                RunOptions.standard()
                        .withOnRejected(
                                (connection, outbox, rejection) -> {
                                    throw failure;
                                });

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        options,
                                        work -> {
                                            throw new CommandRejectedException("NO", "");
                                        }))
                .isSameAs(failure);

        assertThat(Bank.rows(db, id)).isZero();
    }

    @Test
    void exceptions_that_the_classifier_names_are_rejections() throws Exception {
        String id = Bank.id("classified");
        var failure = new IOException("closed");
        RunOptions options =
                RunOptions.standard()
                        .withClassifier(
                                e ->
                                        e instanceof IOException
                                                ? Optional.of(new Rejection("CLOSED", "it is"))
                                                : Optional.empty());

        for (boolean replayed : new boolean[] {false, true}) {
            assertThatThrownBy(
                            () ->
                                    commands.run(
                                            Bank.command(id),
                                            String.class,
                                            options,
                                            work -> {
                                                throw failure;
                                            }))
                    .isInstanceOfSatisfying(
                            CommandRejectedException.class,
                            e -> {
                                assertThat(e.code()).isEqualTo("CLOSED");
                                assertThat(e.replayed()).isEqualTo(replayed);
                                assertThat(e.getCause()).isSameAs(replayed ? null : failure);
                            });
        }
    }

    @Test
    void a_constraint_violation_may_be_a_rejection() throws Exception {
        String id = Bank.id("constraint");
        RunOptions options =
                RunOptions.standard()
                        .withClassifier(
                                e ->
                                        e instanceof SQLException
                                                ? Optional.of(new Rejection("TAKEN", ""))
                                                : Optional.empty());

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        options,
                                        work -> {
                                            Bank.execute(
                                                    work.connection(),
                                                    "INSERT INTO account VALUES ('a', 1)");
                                            return "x";
                                        }))
                .isInstanceOf(CommandRejectedException.class);
        assertThat(Bank.rows(db, id)).isEqualTo(1);
    }

    @Test
    void without_rejections_a_rejection_leaves_the_id_free() throws Exception {
        String id = Bank.id("without");

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        String.class,
                                        RunOptions.standard().withoutRejections(),
                                        work -> {
                                            throw new CommandRejectedException("NO", "");
                                        }))
                .isInstanceOf(CommandRejectedException.class);

        assertThat(Bank.rows(db, id)).isZero();
        assertThat(deposit(id).replayed()).isFalse();
    }
}
