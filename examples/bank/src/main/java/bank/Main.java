package bank;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.CommandIds;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.Outcome;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.outbox.PublishResult;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

/** A day at the bank; ends with 1 if anything was not as it should be. */
public final class Main {

    private static int wrong;

    private Main() {}

    public static void main(String[] args) throws Exception {
        try (var dataSource = new HikariDataSource()) {
            String url = System.getenv("BANK_URL");
            dataSource.setJdbcUrl(url == null ? "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1" : url);
            Schema.apply(dataSource);
            var accounts = new Accounts();
            var once = OnlyOnce.on(dataSource).withTtl(Duration.ofDays(7)).build();
            once.transactions()
                    .execute(
                            connection -> {
                                accounts.create(connection);
                                return null;
                            });
            clients(new TransferService(once, accounts));
            consumer(once, new TransferService(once, accounts));
            try (var connection = dataSource.getConnection()) {
                for (String account : List.of("ann", "bob")) {
                    long cents =
                            accounts.number(
                                    connection,
                                    "SELECT cents FROM bank_account WHERE name = '" + account + "'");
                    expect(account + "'s account", cents, account.equals("ann") ? 4000L : 6000L);
                }
                expect(
                        "lines on the statement",
                        accounts.number(connection, "SELECT count(*) FROM bank_statement_line"),
                        2L);
            }
        }
        System.out.println(wrong == 0 ? "The bank is in order." : wrong + " things are wrong.");
        System.exit(wrong == 0 ? 0 : 1);
    }

    private static void clients(TransferService service) throws Exception {
        String id = CommandIds.next();
        Outcome<TransferService.Receipt> first = service.transfer("web", id, body(1000));
        Outcome<TransferService.Receipt> again = service.transfer("web", id, body(1000));
        expect("a retry is answered without work", again.replayed(), true);
        expect("and gets the same receipt", again.value(), first.value());
        try {
            service.transfer("web", id, body(9900));
            expect("another amount under the same id", "done", "refused");
        } catch (PayloadMismatchException refused) {
            expect("another amount under the same id", "refused", "refused");
        }

        String tooMuch = CommandIds.next();
        for (boolean replayed : new boolean[] {false, true}) {
            try {
                service.transfer("web", tooMuch, body(1_000_000));
                expect("an overdraft", "done", "refused");
            } catch (CommandRejectedException no) {
                expect("an overdraft is refused with", no.code(), "INSUFFICIENT_FUNDS");
                expect("the \"no\" is a repetition", no.replayed(), replayed);
            }
        }

        String impatient = CommandIds.next();
        Callable<Outcome<TransferService.Receipt>> client =
                () -> service.transfer("app", impatient, body(5000));
        var threads = Executors.newFixedThreadPool(16);
        int fresh = 0;
        for (var answer : threads.invokeAll(Collections.nCopies(16, client))) {
            fresh += answer.get().replayed() ? 0 : 1;
        }
        threads.shutdown();
        expect("of 16 clients at once, those whose call did it", fresh, 1);
    }

    private static void consumer(OnlyOnce once, TransferService service) throws Exception {
        List<OutboxEvent> delivered = Collections.synchronizedList(new ArrayList<>());
        try (var relay =
                once.relay(
                        events -> {
                            delivered.addAll(events);
                            delivered.addAll(events); // this broker says everything twice
                            return Collections.nCopies(events.size(), PublishResult.published());
                        })) {
            relay.runOnce(); // or start(), for a thread of its own
        }
        expect("deliveries of two events", delivered.size(), 4);
        for (OutboxEvent event : delivered) {
            expect("may be acknowledged", service.printOnStatement(event).isDone(), true);
        }
    }

    private static byte[] body(long cents) {
        return "{\"from\":\"ann\",\"to\":\"bob\",\"cents\":%d}"
                .formatted(cents)
                .getBytes(StandardCharsets.UTF_8);
    }

    private static void expect(String what, Object found, Object wanted) {
        boolean right = found.equals(wanted);
        System.out.println((right ? "  ok     " : "  WRONG  ") + what + ": " + found);
        wrong += right ? 0 : 1;
    }
}
