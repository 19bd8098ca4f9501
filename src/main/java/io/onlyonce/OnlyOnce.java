package io.onlyonce;

import io.onlyonce.command.CommandDedup;
import io.onlyonce.command.CommandRunner;
import io.onlyonce.command.RunOptions;
import io.onlyonce.inbox.Inbox;
import io.onlyonce.inbox.VersionGuard;
import io.onlyonce.observe.Inspector;
import io.onlyonce.observe.OnlyOnceListener;
import io.onlyonce.outbox.DeadLetters;
import io.onlyonce.outbox.EventPublisher;
import io.onlyonce.outbox.Outbox;
import io.onlyonce.outbox.OutboxMode;
import io.onlyonce.outbox.OutboxRelay;
import io.onlyonce.outbox.RelayOptions;
import io.onlyonce.payload.ResultCipher;
import io.onlyonce.payload.ResultCodec;
import io.onlyonce.retention.Retention;
import io.onlyonce.retention.RetentionOptions;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.Database;
import io.onlyonce.sql.EventRows;
import io.onlyonce.sql.Observer;
import io.onlyonce.sql.RelaySetup;
import io.onlyonce.sql.SchemaName;
import io.onlyonce.tx.TransactionTemplate;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

import javax.sql.DataSource;

/**
 * The parts of the library on one data source: {@code OnlyOnce.on(dataSource).withTtl(…).build()}.
 *
 * <p>Thread-safe; make one per data source and keep it. It opens no pool, starts no thread and has
 * nothing to close.
 */
public final class OnlyOnce {

    private static final Logger log = LoggerFactory.getLogger(OnlyOnce.class);

    private final CommandSetup setup;
    private final RunOptions defaults;
    private final CommandDedup dedup;
    private final CommandRunner commands;
    private final TransactionTemplate transactions;

    private final RelaySetup relaySetup;
    private final OutboxMode mode;
    private final Outbox outbox;
    private final List<OutboxRelay> relays;

    private OnlyOnce(
            RelaySetup relaySetup,
            OutboxMode mode,
            CommandSetup setup,
            RunOptions defaults,
            List<OutboxRelay> relays) {
        this.setup = setup;
        this.defaults = defaults;
        this.relaySetup = relaySetup;
        this.mode = mode;
        this.relays = relays;
        DataSource dataSource = relaySetup.dataSource();
        dedup = CommandDedup.of(setup);
        commands = CommandRunner.of(setup, defaults);
        outbox = Outbox.of(setup);
        transactions =
                TransactionTemplate.of(
                        dataSource,
                        defaults.transaction(),
                        () -> relays.forEach(OutboxRelay::wake));
    }

    /** Begins with the defaults; {@link Builder#build} does the rest. */
    public static Builder on(DataSource dataSource) {
        return new Builder(Objects.requireNonNull(dataSource, "dataSource"));
    }

    /** The high road: runs a command in a transaction of its own. */
    public CommandRunner commands() {
        return commands;
    }

    /** The low road: claims a command inside a transaction of the caller's. */
    public CommandDedup dedup() {
        return dedup;
    }

    /** Appends events inside a transaction of the caller's. */
    public Outbox outbox() {
        return outbox;
    }

    /** A relay with the standard options, which commits of this object wake; start it. */
    public OutboxRelay relay(EventPublisher publisher) {
        return relay(publisher, RelayOptions.standard());
    }

    /** A relay that commits of this object wake; start it. */
    public OutboxRelay relay(EventPublisher publisher, RelayOptions options) {
        OutboxRelay relay =
                OutboxRelay.of(
                        relaySetup,
                        mode,
                        Objects.requireNonNull(publisher, "publisher"),
                        Objects.requireNonNull(options, "options"));
        relays.removeIf(OutboxRelay::isStopped);
        relays.add(relay);
        return relay;
    }

    /** Events that were given up: to list, to publish after all, or to drop. */
    public DeadLetters deadLetters() {
        return DeadLetters.of(relaySetup);
    }

    /** The messages of this consumer; make one and keep it. */
    public Inbox inbox(String consumer) {
        return Inbox.of(setup, consumer, defaults.transaction());
    }

    /** Remembers how far projections have come; strict, and from version 1 on. */
    public VersionGuard versionGuard() {
        return VersionGuard.of(setup);
    }

    /** Removes what has served its time, with the standard options; start it, or run it. */
    public Retention retention() throws SQLException {
        return retention(RetentionOptions.standard());
    }

    /**
     * Removes what has served its time; start it, or run it.
     *
     * @throws SchemaOutdatedException if tombstones are wanted and their index is missing
     */
    public Retention retention(RetentionOptions options) throws SQLException {
        if (!options.tombstoned().isEmpty()) {
            Schema.verifyTombstones(relaySetup.dataSource(), relaySetup.schema());
        }
        return Retention.of(relaySetup, options);
    }

    /** Answers what operators ask. */
    public Inspector inspector() {
        return Inspector.of(relaySetup);
    }

    /** Plain transactions with the same defaults. */
    public TransactionTemplate transactions() {
        return transactions;
    }

    /** Collects the settings; every one but the time to live has a default. */
    public static final class Builder {

        private static final int LARGEST_RESULT = 1 << 30;

        private final DataSource dataSource;
        private SchemaName schema = SchemaName.DEFAULT;
        private ResultCodec codec = ResultCodec.json();
        private Optional<ResultCipher> cipher = Optional.empty();
        private int resultLimit = 1 << 20;
        private int hashAlgorithm;
        private boolean withoutExpiry;
        private Optional<Duration> ttl = Optional.empty();
        private Optional<Duration> refusedFor = Optional.empty();
        private RunOptions defaults = RunOptions.standard();
        private OutboxMode mode = OutboxMode.KEEP;
        private boolean notify;
        private Optional<CommandSetup.Budget> budget = Optional.empty();
        private Optional<OnlyOnceListener> listener = Optional.empty();

        private Builder(DataSource dataSource) {
            this.dataSource = dataSource;
        }

        /** The database schema that the tables are in; {@code onlyonce} by default. */
        public Builder withSchema(String schema) {
            this.schema = new SchemaName(schema);
            return this;
        }

        /** How long the results of commands that do not say it themselves are replayed. */
        public Builder withTtl(Duration ttl) {
            return withTtl(ttl, ttl);
        }

        /** The same with another time for which an expired id is still refused. */
        public Builder withTtl(Duration ttl, Duration refusedFor) {
            this.withoutExpiry = false;
            this.ttl = Optional.of(ttl);
            this.refusedFor = Optional.of(refusedFor);
            return this;
        }

        /** Results of commands that do not say it themselves are replayed for ever. */
        public Builder withoutExpiry() {
            this.withoutExpiry = true;
            return this;
        }

        /** For every run that brings no options of its own. */
        public Builder withDefaults(RunOptions defaults) {
            this.defaults = Objects.requireNonNull(defaults, "defaults");
            return this;
        }

        /** What becomes of events; they are kept by default. */
        public Builder withOutbox(OutboxMode mode) {
            this.mode = Objects.requireNonNull(mode, "mode");
            return this;
        }

        /**
         * Commits with events notify relays of other processes that listen ({@link
         * RelayOptions#listening}); PostgreSQL only. Every such commit takes a lock of the whole
         * server for a moment, so leave it out where hundreds of them happen in a second.
         */
        public Builder withNotify() {
            this.notify = true;
            return this;
        }

        /** Is told of every decision; nobody by default. */
        public Builder withListener(OnlyOnceListener listener) {
            this.listener = Optional.of(listener);
            return this;
        }

        /**
         * Each caller of a tenant may use so many new ids in each window of the database's clock;
         * more are refused with {@code KeyBudgetExceededException}, while what it has sent before
         * is still answered. Unlimited by default.
         *
         * <p>Approximate: ids are taken from a counter in portions of a hundredth, so a caller may
         * be refused earlier by what other processes have left of theirs, and over the end of a
         * window by as many as were running. The low road is not counted. One budget per schema.
         *
         * @param newIds 1 or more; above 100 rounded down to whole portions
         * @param window whole seconds, from one to a day
         */
        public Builder withKeyBudget(long newIds, Duration window) {
            if (newIds < 1) {
                throw new IllegalArgumentException("A key budget must allow at least one new id.");
            }
            if (window.compareTo(Duration.ofSeconds(1)) < 0
                    || window.compareTo(Duration.ofDays(1)) > 0
                    || window.toNanosPart() != 0) {
                throw new IllegalArgumentException(
                        "The window of a key budget must be whole seconds, from one to a day.");
            }
            this.budget = Optional.of(new CommandSetup.Budget(newIds, window));
            return this;
        }

        /** How results become bytes; JSON by default. */
        public Builder withCodec(ResultCodec codec) {
            this.codec = Objects.requireNonNull(codec, "codec");
            return this;
        }

        /**
         * Results and details of rejections, and payload hashes of commands and messages, are
         * stored under keys; in clear by default. Rows that are in clear already stay so, and are
         * read.
         */
        public Builder withCipher(ResultCipher cipher) {
            this.cipher = Optional.of(cipher);
            return this;
        }

        /** The largest encoded result in bytes; 1 MB by default. */
        public Builder withResultLimit(int bytes) {
            if (bytes < 0 || bytes > LARGEST_RESULT) {
                throw new IllegalArgumentException(
                        "The result limit must be between 0 and " + LARGEST_RESULT + " bytes.");
            }
            this.resultLimit = bytes;
            return this;
        }

        /**
         * The generation of the hash algorithm that new rows are written with, for a deployment in
         * which older neighbours must still read them; the newest by default.
         */
        public Builder withHashAlgorithm(int algorithm) {
            this.hashAlgorithm = algorithm;
            return this;
        }

        /**
         * Looks at the database, once, and wires the parts.
         *
         * @throws SchemaOutdatedException in one sentence, if tables are missing or too old
         */
        public OnlyOnce build() throws SQLException {
            Database database;
            try (Connection connection = dataSource.getConnection()) {
                database = Database.of(connection);
                DatabaseMetaData server = connection.getMetaData();
                log.info(
                        "OnlyOnce on {} {} ({} {}), schema {}",
                        server.getDatabaseProductName(),
                        server.getDatabaseProductVersion(),
                        server.getDriverName(),
                        server.getDriverVersion(),
                        schema);
            }
            Schema.verify(dataSource, schema.value());
            var observer = listener.map(Observer::new).orElse(Observer.NONE);
            List<OutboxRelay> relays = new CopyOnWriteArrayList<>();
            var setup =
                    new CommandSetup(
                            dataSource,
                            database,
                            schema,
                            codec,
                            cipher,
                            resultLimit,
                            hashAlgorithm,
                            withoutExpiry,
                            ttl,
                            refusedFor,
                            new EventRows(database, schema, mode == OutboxMode.CDC, notify),
                            () -> relays.forEach(OutboxRelay::wake),
                            observer,
                            budget);
            var relaySetup =
                    new RelaySetup(
                            dataSource,
                            database,
                            schema,
                            defaults.transaction().isPoolAutoCommitOff(),
                            observer);
            return new OnlyOnce(relaySetup, mode, setup, defaults, relays);
        }
    }
}
