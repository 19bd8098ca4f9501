package io.onlyonce.torture;

import java.util.List;

/** The bugs that the checker must find: what each takes away is why it is there. */
final class Plants {

    private static final String COMMANDS = "command/PostgresCommands.java";
    private static final String COMMAND_RUN = "command/CommandRun.java";
    private static final String SEEN = "command/Seen.java";
    private static final String TRANSACTION = "sql/Transaction.java";
    private static final String EVENTS = "sql/EventRows.java";
    private static final String RELAY = "outbox/RelayWork.java";
    private static final String RELAY_SQL = "outbox/PostgresRelay.java";
    private static final String INBOX_SQL = "inbox/PostgresInbox.java";

    private static final String PURGE_RULE = "retention/Rule.java";

    private static final String FENCE =
            "CASE WHEN pg_catalog.now() OPERATOR(pg_catalog.=) ? THEN ?::int2 ELSE"
                    + " %1$s.refuse('OO001', 'not this transaction')::int::int2 END";

    private Plants() {}

    static final List<Mutant> COMMAND =
            List.of(
                    Mutant.of(
                            "looks first, without a lock",
                            COMMANDS,
                            "SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held,"
                                    + " pg_catalog.now() AS opened_at,",
                            "SELECT ?::bigint IS NOT NULL AS held, pg_catalog.now() AS opened_at,"),
                    Mutant.of(
                            "the by-row claim has no lock",
                            COMMANDS,
                            "(SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held)",
                            "(SELECT ?::bigint IS NOT NULL AS held)"),
                    Mutant.of(
                            "a lock of the session",
                            COMMANDS,
                            "SELECT pg_catalog.pg_try_advisory_xact_lock(?) AS held,"
                                    + " pg_catalog.now() AS opened_at,",
                            "SELECT pg_catalog.pg_try_advisory_lock(?) AS held, pg_catalog.now()"
                                    + " AS opened_at,"),
                    Mutant.of(
                                    "the READ COMMITTED claim at every level",
                                    COMMANDS,
                                    "        if (plan.isolation() == Isolation.READ_COMMITTED) {",
                                    "        if (true) {")
                            .and(
                                    COMMANDS,
                                    "finish.plan().isolation() == Isolation.READ_COMMITTED,",
                                    "true,"),
                    Mutant.of(
                            "who is refused the lock works all the same",
                            SEEN,
                            "return held ? new Claim.Started(wanted, mark) : IN_FLIGHT;",
                            "return new Claim.Started(wanted, mark);"),
                    Mutant.of(
                            "finish in another transaction",
                            COMMANDS,
                            FENCE,
                            "CASE WHEN ?::timestamptz IS NOT NULL THEN ?::int2 END"),
                    Mutant.of(
                            "finish of a claim that was undone",
                            COMMANDS,
                            "RETURNING CASE WHEN d.xmax = 0 THEN",
                            "RETURNING CASE WHEN d.xmax = 0 AND 1 = 2 THEN"),
                    Mutant.of(
                            "finish of somebody else's row",
                            COMMANDS,
                            "d.status = 0 AND d.started_at = excluded.started_at THEN",
                            "true OR d.started_at = excluded.started_at THEN"),
                    Mutant.of(
                            "commit before the finish",
                            COMMANDS,
                            "+ (byLock ? insert : upsert)",
                            "+ \"COMMIT;\\n\" + (byLock ? insert : upsert)"),
                    Mutant.of(
                            "no undo before a rejection",
                            "command/CommandStore.java",
                            "            execute(connection, UNDO);",
                            "            execute(connection, \"SELECT 1\");"),
                    Mutant.of(
                            "a timeout stored as a no",
                            COMMAND_RUN,
                            "Optional<SQLException> met = transaction.transientError();",
                            "Optional<SQLException> met = Optional.empty();"),
                    Mutant.of(
                            "a no that is told and not stored",
                            COMMAND_RUN,
                            "                throw met.get();",
                            "                throw failure;"),
                    Mutant.of(
                            "payloads are not compared",
                            SEEN,
                            "if (!settings.seal().matches(command, row)) {",
                            "if (row.hash().length == 0) {"),
                    Mutant.of(
                            "the hash of raw text",
                            "payload/PayloadHash.java",
                            "return json(new CanonicalJson(limits).canonicalize(json));",
                            "return ofBytes(json.getBytes("
                                    + "java.nio.charset.StandardCharsets.UTF_8));"),
                    Mutant.of(
                            "after a lost COMMIT it asks under a new id",
                            COMMAND_RUN,
                            "Seen seen = store.open(connection, transactionSettings, row, plan);",
                            "NewRow other = new NewRow(Command.of(command.scope(), command.id() +"
                                    + " \"-2\", command.hash()), row.lockKey() + 1, row.expiry(),"
                                    + " row.keyId(), row.hashVersion(), row.hash()); Seen seen ="
                                    + " store.open(connection, transactionSettings, isResolving() ?"
                                    + " other : row, plan);"));

    static final List<Mutant> TRANSACTIONS =
            List.of(
                    Mutant.of(
                            "an aborted transaction counts as committed",
                            TRANSACTION,
                            "                throw new SwallowedSqlErrorException(\n"
                                    + "                        guard.lastError().orElse("
                                    + "(SQLException) failure));",
                            "                state = State.COMMITTED; return;"),
                    Mutant.of(
                            "an unknown COMMIT counts as done",
                            TRANSACTION,
                            "                throw new CommitOutcomeUnknownException(failure);",
                            "                return;"),
                    Mutant.of(
                            "an unknown COMMIT counts as failed",
                            TRANSACTION,
                            "if (!SqlState.isDefinite(failure)) {",
                            "if (failure == null) {"),
                    Mutant.of(
                            "what failed is committed",
                            TRANSACTION,
                            "connection.rollback(); // after a commit too",
                            "connection.commit(); // after a commit too"));

    static final List<Mutant> OUTBOX =
            List.of(
                    Mutant.of(
                            "an event's identity without its tenant",
                            EVENTS,
                            "Fingerprint.of(\"onlyonce/1\", \"event\", tenant, event.key())",
                            "Fingerprint.of(\"onlyonce/1\", \"event\", event.key())"),
                    Mutant.of(
                            "events are left out of the finish",
                            COMMAND_RUN,
                            "settings.seal().sealed(row, end), events);",
                            "settings.seal().sealed(row, end), List.of());"),
                    Mutant.of(
                                    "a cursor instead of marks",
                                    RELAY_SQL,
                                    "                        + fetch;",
                                    "                        + fetch.replace(\"state = 0 ORDER\","
                                            + " \"state = 0 AND seq > \" + cursor + \" ORDER\");")
                            .and(
                                    RELAY_SQL,
                                    "            ready.sort(",
                                    "            ready.forEach(e -> cursor = Math.max(cursor,"
                                            + " e.seq()));\n            ready.sort(")
                            .and(
                                    RELAY_SQL,
                                    "    private final String fetch;",
                                    "    private static volatile long cursor;\n    private final"
                                            + " String fetch;"),
                    Mutant.of(
                            "marked before it is published",
                            RELAY,
                            "            results = calls.publish(",
                            "            mark(ours);\n            results = calls.publish("),
                    Mutant.of(
                            "published in the wrong order",
                            RELAY_SQL,
                            "Long.compare(a.seq(), b.seq())",
                            "Long.compare(b.seq(), a.seq())"),
                    Mutant.of(
                            "a failed call charges all its events",
                            RELAY,
                            "        if (batch.size() > 1) {\n            return 0;",
                            "        if (batch.size() > 1) {\n            settle(List.of(),"
                                    + " batch.stream().map(e -> attempt(e, \"\")).toList(),"
                                    + " List.of(), List.of());\n            return 0;"),
                    Mutant.of(
                            "later events pass one that failed",
                            "outbox/RelayStore.java",
                            "statement.setBoolean(3, othersWait);",
                            "statement.setBoolean(3, false);"),
                    Mutant.of(
                            "an event that was not tried counts as published",
                            RELAY,
                            "case NOT_TRIED -> {}",
                            "case NOT_TRIED -> ready.add(event);"),
                    Mutant.of(
                            "the lease is on the client's clock",
                            "outbox/Leases.java",
                            "this.micros = lease.toNanos() / 1_000;",
                            "this.micros = lease.toNanos() / 1_000 +"
                                    + " Long.getLong(\"torture.skew.micros\", 0);"));

    static final List<Mutant> INBOX =
            List.of(
                    Mutant.of(
                            "a duplicate message is processed",
                            "inbox/InboxSeen.java",
                            "isUnfinished ? State.UNFINISHED : State.DUPLICATE,",
                            "isUnfinished ? State.UNFINISHED : State.STARTED,"),
                    Mutant.of(
                            "messages are not compared",
                            "inbox/InboxSeen.java",
                            "if (!row.matching().matches(stored.hashVersion(), stored.keyId(),"
                                    + " stored.hash())) {",
                            "if (stored.hash().length == 0) {"),
                    Mutant.of(
                            "a message is marked before its work",
                            INBOX_SQL,
                            "connection.prepareStatement(settings + claimAsProcessed)",
                            "connection.prepareStatement(settings + claimAsProcessed + \";"
                                    + " COMMIT\")"),
                    Mutant.of(
                            "a gap does not defer its message",
                            "sql/Guard.java",
                            "handler.guard().gap = expected;",
                            "handler.guard().gap = null;"));

    static final List<Mutant> RETENTION =
            List.of(
                    Mutant.of(
                            "a purge without the check of the time",
                            "retention/Step.java",
                            "AND %1$s >= ? AND %1$s <= %5$s ORDER BY %1$s",
                            "AND %1$s >= ? AND (true OR %1$s <= %5$s) ORDER BY %1$s"),
                    Mutant.of(
                                    "a purge of events that are not published",
                                    PURGE_RULE,
                                    "\"settled_at\",",
                                    "\"created_at\",")
                            .and(PURGE_RULE, "\"state IN (1, 4)\",", "\"state IN (0, 1)\","),
                    Mutant.of(
                                    "a purge of what is unresolved",
                                    PURGE_RULE,
                                    "\"forget_at\",",
                                    "\"started_at\",")
                            .and(
                                    PURGE_RULE,
                                    "\"status <> 0 AND forget_at > '-infinity' AND forget_at <"
                                            + " 'infinity'\"",
                                    "\"(status = 0 OR forget_at <= pg_catalog.now())\""),
                    Mutant.of(
                            "an id is new as soon as it has expired",
                            COMMANDS,
                            "status <> 0 AND forget_at <= pg_catalog.clock_timestamp() AS"
                                    + " forgotten",
                            "status <> 0 AND expires_at <= pg_catalog.clock_timestamp() AS"
                                    + " forgotten"),
                    Mutant.of(
                            "an expired result is replayed",
                            SEEN,
                            "        if (row.expired()) {",
                            "        if (row.hash().length == 0) {"));
}
