package io.onlyonce.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.onlyonce.command.CommandScope;
import io.onlyonce.inbox.Advance;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Meters for Micrometer, which is an optional dependency: {@code
 * OnlyOnce.on(…).withListener(MicrometerListener.on(registry))}.
 *
 * <p>The number of meters is bounded: no ids at all, tenants and callers only if asked for, and of
 * each label the first 200 values; the others are called {@code other}. Thread-safe.
 */
public final class MicrometerListener implements OnlyOnceListener {

    /** What is not counted but asked of the database; see {@link #polling}. */
    public enum Polled {
        /** Commands that were claimed and never completed. */
        UNRESOLVED("onlyonce.unresolved"),
        /** Events that wait to be published. */
        OUTBOX_BACKLOG("onlyonce.outbox.backlog"),
        /** Seconds since the oldest of them was committed. */
        OUTBOX_LAG("onlyonce.outbox.lag"),
        /**
         * Seconds since the oldest row that the purge may take could have been taken: {@code
         * Retention.lag}.
         */
        PURGE_LAG("onlyonce.purge.lag");

        private final String meter;

        Polled(String meter) {
            this.meter = meter;
        }
    }

    private static final int MOST_VALUES = 200;
    private static final String OTHER = "other";

    private final MeterRegistry registry;
    private final boolean tenants;
    private final boolean callers;
    private final ConcurrentHashMap<String, Set<String>> labels = new ConcurrentHashMap<>();

    private MicrometerListener(MeterRegistry registry, boolean tenants, boolean callers) {
        this.registry = Objects.requireNonNull(registry, "registry");
        this.tenants = tenants;
        this.callers = callers;
    }

    /** Registers its meters as they are first needed. */
    public static MicrometerListener on(MeterRegistry registry) {
        return new MicrometerListener(registry, false, false);
    }

    /** The same with a label {@code tenant} on {@code onlyonce.commands} and refused budgets. */
    public MicrometerListener withTenants() {
        return new MicrometerListener(registry, true, callers);
    }

    /** The same with a label {@code caller} on {@code onlyonce.commands} and refused budgets. */
    public MicrometerListener withCallers() {
        return new MicrometerListener(registry, tenants, true);
    }

    /**
     * Registers a gauge. The value is asked for at every scrape, on the registry's thread: give a
     * query that is cheap, or a number that you keep. If it throws, the gauge has no value.
     */
    public MicrometerListener polling(Polled what, Callable<? extends Number> value) {
        gauge(what.meter, Tags.empty(), value);
        return this;
    }

    /** Registers {@code onlyonce.records} for one table; an estimate is good enough. */
    public MicrometerListener pollingRecords(String table, Callable<? extends Number> value) {
        gauge("onlyonce.records", Tags.of("table", table), value);
        return this;
    }

    private void gauge(String name, Tags tags, Callable<? extends Number> value) {
        Gauge.builder(name, value, v -> ask(name, v))
                .tags(tags)
                .strongReference(true)
                .register(registry);
    }

    /** What it throws ends in the registry, which logs it once. */
    private static double ask(String name, Callable<? extends Number> value) {
        try {
            return value.call().doubleValue();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(name + " has no value: " + e.getClass().getName(), e);
        }
    }

    @Override
    public void command(ObservedCommand command) {
        Tags operation = Tags.of("operation", bounded("operation", command.scope().operation()));
        count(
                "onlyonce.commands",
                scoped(operation.and("outcome", lower(command.decision())), command.scope()),
                1);
        command.claim().ifPresent(took -> timer("onlyonce.claim.latency", operation).record(took));
        command.run().ifPresent(took -> timer("onlyonce.run.latency", operation).record(took));
        count("onlyonce.work.retries", operation, command.retries());
        count("onlyonce.commit.unknown", operation, command.unknownCommits());
        count("onlyonce.result.unreadable", operation, command.resultUnreadable() ? 1 : 0);
        command.resultBytes()
                .ifPresent(
                        bytes ->
                                DistributionSummary.builder("onlyonce.result.bytes")
                                        .baseUnit("bytes")
                                        .tags(operation)
                                        .register(registry)
                                        .record(bytes));
    }

    @Override
    public void keyBudgetRefused(CommandScope scope) {
        Tags operation = Tags.of("operation", bounded("operation", scope.operation()));
        count("onlyonce.key.budget.refused", scoped(operation, scope), 1);
    }

    @Override
    public void eventsAppended(int appended, int duplicates) {
        count("onlyonce.outbox.appended", Tags.empty(), appended);
        count("onlyonce.outbox.duplicate", Tags.empty(), duplicates);
    }

    @Override
    public void relayed(ObservedRelay round) {
        count("onlyonce.outbox.published", Tags.empty(), round.published());
        count("onlyonce.outbox.failed", Tags.empty(), round.failed());
        count("onlyonce.outbox.dead", Tags.empty(), round.dead());
        count("onlyonce.outbox.lease.lost", Tags.empty(), round.leasesLost());
    }

    @Override
    public void message(ObservedMessage message) {
        String consumer = bounded("consumer", message.consumer());
        Tags tags = Tags.of("consumer", consumer, "outcome", lower(message.decision()));
        count("onlyonce.inbox.messages", tags, 1);
    }

    @Override
    public void versionChecked(String projection, Advance.Kind answer) {
        String bounded = bounded("projection", projection);
        count("onlyonce.guard", Tags.of("projection", bounded, "outcome", lower(answer)), 1);
    }

    @Override
    public void purged(String table, long rows) {
        count("onlyonce.purged", Tags.of("table", bounded("table", table)), rows);
    }

    private Tags scoped(Tags tags, CommandScope scope) {
        Tags more = tenants ? tags.and("tenant", bounded("tenant", scope.tenant())) : tags;
        return callers ? more.and("caller", bounded("caller", scope.caller())) : more;
    }

    /** Registered also at zero, so that a rate exists from the first call on. */
    private void count(String name, Tags tags, long times) {
        Counter.builder(name).tags(tags).register(registry).increment((double) times);
    }

    private Timer timer(String name, Tags tags) {
        return Timer.builder(name)
                .tags(tags)
                .publishPercentileHistogram()
                .minimumExpectedValue(Duration.ofMillis(1))
                .maximumExpectedValue(Duration.ofSeconds(30))
                .register(registry);
    }

    private String bounded(String label, String value) {
        Set<String> known = labels.computeIfAbsent(label, l -> ConcurrentHashMap.newKeySet());
        if (known.contains(value)) {
            return value;
        }
        synchronized (known) {
            return known.size() < MOST_VALUES && known.add(value) ? value : OTHER;
        }
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
