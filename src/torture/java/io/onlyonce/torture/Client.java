package io.onlyonce.torture;

import com.zaxxer.hikari.HikariDataSource;

import io.onlyonce.OnlyOnce;
import io.onlyonce.ground.DataSources;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.RelayOptions;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

/**
 * A process that calls the library: several callers, a relay and consumers, as the driver orders.
 * It lives until it is killed, and its successor goes on where it was.
 */
final class Client {

    static final Duration LEASE = Duration.ofMillis(900);

    private static final String CALLER = "caller";
    private static final int DESKS = 6;

    private final int index;
    private final long seed;
    private final Desk.Address address;
    private final Driver driver;
    private final BlockingQueue<Desk> desks = new LinkedBlockingQueue<>();
    private final List<Desk> allDesks = new ArrayList<>();
    private final Desk relayDesk;
    private final HikariDataSource broker;
    private final Routing routing;
    private final OnlyOnce once;
    private final Publishing publishing;
    private final Purging purging;
    private final ExecutorService callers = Executors.newFixedThreadPool(DESKS);
    private final ExecutorService relayFaults = Executors.newSingleThreadExecutor();
    private final AtomicReference<HistoryFile> file = new AtomicReference<>();

    private Client(int index, long seed, Desk.Address address, Driver driver) throws Exception {
        this.index = index;
        this.seed = seed;
        this.address = address;
        this.driver = driver;
        relayDesk = new Desk(address, 3);
        routing = new Routing(relayDesk);
        broker = Desk.pool(address.direct(), address, 4);
        for (int i = 0; i < DESKS; i++) {
            allDesks.add(new Desk(address, 2));
        }
        desks.addAll(allDesks);
        once = build(routing);
        publishing = new Publishing(this);
        OutboxRelay relay =
                once.relay(
                        publishing,
                        RelayOptions.standard()
                                .withLease(LEASE, LEASE.dividedBy(3))
                                .withBatch(20)
                                .withPoll(Duration.ofMillis(70))
                                .withAttempts(5, Duration.ofMillis(20), Duration.ofMillis(100)));
        relay.start();
        purging = Purging.start(this, address);
    }

    /** The server may be down when a successor starts. */
    OnlyOnce build(DataSource dataSource) throws SQLException {
        long end = System.nanoTime() + Duration.ofSeconds(50).toNanos();
        while (true) {
            try {
                return OnlyOnce.on(dataSource).withoutExpiry().build();
            } catch (SQLException | CommitOutcomeUnknownException e) {
                if (System.nanoTime() - end > 0) {
                    throw e;
                }
            }
        }
    }

    /** Arguments: index, seed, port of the driver, and the database's address. */
    public static void main(String[] args) throws Exception {
        var address =
                new Desk.Address(args[3], Integer.parseInt(args[4]), args[5], args[6], "", CALLER);
        // What an hour's difference between clocks is to a library that reads one; ours does not.
        System.setProperty("torture.skew.micros", args[0].equals("0") ? "3600000000" : "0");
        var driver = new Driver(Integer.parseInt(args[2]));
        var client =
                new Client(Integer.parseInt(args[0]), Long.parseLong(args[1]), address, driver);
        driver.tell("ready");
        while (true) {
            client.obey(driver.order().split(" ", 4));
        }
    }

    /** Orders name a phase, the first history, how many, and where to write. */
    private void obey(String[] order) throws IOException {
        Path folder = Path.of(order[3]);
        int first = Integer.parseInt(order[1]);
        List<Plan> plans = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(order[2]); i++) {
            plans.add(Plan.of(seed, first + i));
        }
        Path path = HistoryFile.of(folder, index);
        Set<String> begun = new HashSet<>();
        HistoryFile.read(path).stream()
                .filter(line -> line.what().equals("call") || line.what().equals("consume"))
                .forEach(line -> begun.add(line.tenant() + line.get(0)));
        HistoryFile old = file.getAndSet(new HistoryFile(path));
        if (old != null) {
            old.close();
        }
        new Thread(() -> carryOut(order[0], plans, begun), "orders").start();
    }

    private void carryOut(String phase, List<Plan> plans, Set<String> begun) {
        if (!phase.equals("wave")) {
            publishing.planNothing();
        }
        long end = System.nanoTime() + Settling.WITHIN.toNanos();
        List<Runnable> tasks = new ArrayList<>();
        for (Plan plan : plans) {
            if (phase.equals("wave")) {
                for (int k = 0; k < Plan.CALLERS_PER_CLIENT; k++) {
                    int caller = index * Plan.CALLERS_PER_CLIENT + k;
                    tasks.add(() -> live(plan, caller, begun));
                }
            } else {
                tasks.add(() -> end(phase, plan, end));
            }
        }
        var left = new CountDownLatch(tasks.size());
        for (Runnable task : tasks) {
            callers.execute(
                    () -> {
                        Desk desk = desks.remove();
                        routing.sitDown(desk);
                        try {
                            task.run();
                        } catch (Throwable e) {
                            e.printStackTrace();
                            history().write("broken", "-", e);
                        } finally {
                            desk.proxy().pass();
                            desks.add(desk);
                            left.countDown();
                        }
                    });
        }
        try {
            left.await();
        } catch (InterruptedException e) {
            return;
        }
        if (phase.equals("drain")) { // until then nothing but the server's timeouts may help
            allDesks.forEach(desk -> desk.proxy().release());
            relayDesk.proxy().release();
            purging.release();
        }
        allDesks.forEach(desk -> desk.proxy().resetCounters());
        relayDesk.proxy().resetCounters();
        driver.tell("done");
    }

    private void live(Plan plan, int caller, Set<String> begun) {
        if (!begun.contains(plan.tenant() + plan.callers().get(caller).get(0).key())) {
            plan.publishing().forEach(cell -> publishing.plan(plan.tenant(), cell));
        }
        for (Plan.Call call : plan.callers().get(caller)) {
            if (begun.contains(plan.tenant() + call.key())) {
                driver.tell("call");
                continue; // by a predecessor of this process, which did not live to see its end
            }
            if (call.meets(Cell.Site.RELAY) && plan.publishing().isEmpty()) {
                relayFault(plan, call.fault().orElseThrow());
            }
            if (call.meets(Cell.Site.PURGE)) {
                purging.meet(plan.tenant(), call.fault().orElseThrow());
            }
            new Caller(this, plan, call).run();
            driver.tell("call");
        }
        Plan.Call last = plan.callers().get(caller).get(0);
        Plan.Call faulted =
                plan.callers().get(caller).stream()
                        .filter(call -> call.meets(Cell.Site.INBOX))
                        .findFirst()
                        .orElse(last);
        if (!begun.contains(plan.tenant() + "consume-" + caller)) {
            new Consumer(this, plan).consume("consume-" + caller, faulted);
        }
    }

    /** Faults have stopped: every id must come to its end, and every message must be done with. */
    private void end(String phase, Plan plan, long end) {
        if (phase.equals("settle")) {
            for (int i = 0; i < plan.transfers().size(); i++) {
                int asker = (plan.number() + i) % Plan.CLIENTS;
                if (asker == index || (asker + 1) % Plan.CLIENTS == index) {
                    boolean isPatient = asker == index;
                    Settling.settle(this, plan, plan.transfers().get(i), isPatient, end);
                }
            }
        } else if (plan.number() % Plan.CLIENTS == index) {
            new Consumer(this, plan).drain(end);
        }
        driver.tell("alive");
    }

    /** One at a time, and given up if the relay has nothing to do that it could strike. */
    private void relayFault(Plan plan, Cell cell) {
        relayFaults.execute(
                () -> {
                    relayDesk.arm(cell.site(), cell.kind(), cell.step());
                    try {
                        relayDesk.proxy().awaitFired(Duration.ofSeconds(2));
                        fault(plan.tenant(), cell);
                    } catch (AssertionError | InterruptedException e) {
                        // the relay had nothing to do
                    }
                    relayDesk.proxy().pass();
                });
    }

    void fault(String tenant, Cell cell) {
        history().write("fault", tenant, cell.site(), cell.kind(), cell.step());
    }

    HistoryFile history() {
        return file.get();
    }

    OnlyOnce once() {
        return once;
    }

    int index() {
        return index;
    }

    Driver driver() {
        return driver;
    }

    /** The desk of this thread. */
    Desk desk() {
        return routing.desk();
    }

    /** The broker's own pool, which has nothing to do with the library. */
    Connection brokerConnection() throws SQLException {
        return broker.getConnection();
    }

    /** A connection that no fault of ours strikes. */
    Connection direct() throws SQLException {
        return DataSources.unpooled(address.direct(), address.user(), address.password())
                .getConnection();
    }
}
