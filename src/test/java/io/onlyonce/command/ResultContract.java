package io.onlyonce.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.payload.ResultType;
import io.onlyonce.payload.StoredResultUnreadableException;

import org.junit.jupiter.api.Test;

import java.time.Instant;
import java.util.List;
import java.util.Random;

/** What stored results promise on every database. */
abstract class ResultContract extends CommandGround {

    record Receipt(String number, long amount, Instant at) {}

    ResultContract(Opening opening) {
        super(opening);
    }

    @Test
    void a_result_over_the_limit_rolls_back() throws Exception {
        String id = Bank.id("large");
        OnlyOnce small = OnlyOnce.on(db.pool(2)).withoutExpiry().withResultLimit(100).build();

        assertThatThrownBy(
                        () ->
                                small.commands()
                                        .run(
                                                Bank.command(id),
                                                byte[].class,
                                                work -> {
                                                    Bank.deposit(work.connection(), "a", id);
                                                    return new byte[101];
                                                }))
                .isInstanceOf(ResultTooLargeException.class)
                .hasMessageContaining("101 bytes")
                .hasMessageContaining("limit of 100");

        assertThat(Bank.effects(db, id)).isZero();
        assertThat(small.commands().run(Bank.command(id), byte[].class, w -> new byte[100]))
                .isNotNull();
    }

    @Test
    void random_bytes_are_replayed_exactly() throws Exception {
        var random = new Random(7);
        for (int size : new int[] {0, 1, 255, 70_000, 1 << 20}) {
            byte[] result = new byte[size];
            random.nextBytes(result);
            String id = Bank.id("bytes");

            commands.run(Bank.command(id), byte[].class, work -> result);

            assertThat(commands.run(Bank.command(id), byte[].class, w -> null).value())
                    .isEqualTo(result);
        }
    }

    @Test
    void text_with_nul_and_odd_json_is_replayed_exactly() throws Exception {
        for (String result : List.of("\0", "{\"b\":1,\"a\":1e2,\"a\":1.0}", "\uD83D\uDE00 Ä", "")) {
            String id = Bank.id("text");
            commands.run(Bank.command(id), String.class, work -> result);

            assertThat(commands.run(Bank.command(id), String.class, w -> "x").value())
                    .isEqualTo(result);
        }
    }

    @Test
    void records_times_generics_and_null_are_replayed() throws Exception {
        var receipt = new Receipt("r-1", 1L << 60, Instant.parse("2026-01-02T03:04:05.678901Z"));
        String id = Bank.id("record");
        commands.run(Bank.command(id), Receipt.class, work -> receipt);
        assertThat(commands.run(Bank.command(id), Receipt.class, w -> null).value())
                .isEqualTo(receipt);

        String list = Bank.id("list");
        var type = new ResultType<List<Receipt>>() {};
        commands.run(Bank.command(list), type, work -> List.of(receipt, receipt));
        assertThat(commands.run(Bank.command(list), type, w -> null).value())
                .containsExactly(receipt, receipt);

        String nothing = Bank.id("null");
        commands.run(Bank.command(nothing), Void.class, work -> null);
        assertThat(commands.run(Bank.command(nothing), Void.class, w -> null))
                .isEqualTo(new Outcome<Void>(null, true));
    }

    @Test
    void a_stored_result_that_no_longer_fits_is_never_run_again() throws Exception {
        String id = Bank.id("unreadable");
        commands.run(Bank.command(id), String.class, work -> "text");

        assertThatThrownBy(
                        () ->
                                commands.run(
                                        Bank.command(id),
                                        Receipt.class,
                                        work -> {
                                            throw new AssertionError("the work ran");
                                        }))
                .isInstanceOf(StoredResultUnreadableException.class);
    }
}
