-- OnlyOnce, version 1, for PostgreSQL 13 and later.
--
-- Copy this file into your own migrations, or let Schema.apply(dataSource) run it. The database schema is called
-- "onlyonce" throughout; replace that one word to use another name. Times are the database's. Text keys are compared
-- byte by byte (COLLATE "C"), so that an index never depends on the operating system's locale.

-- IF NOT EXISTS would ask for CREATE on the database even where a DBA has made the schema already.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = 'onlyonce') THEN
        CREATE SCHEMA onlyonce;
    END IF;
END
$$;

CREATE TABLE onlyonce.schema_version (
    version    integer     NOT NULL PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Lengths and ranges are domains and types rather than CHECKs of the tables: the server reads a table's CHECKs anew for every
-- statement, which for dozens of conditions costs several times the insert itself; a domain's are kept.
CREATE DOMAIN onlyonce.name128 AS varchar(128) COLLATE "C" CHECK (VALUE <> '');
CREATE DOMAIN onlyonce.name255 AS varchar(255) COLLATE "C" CHECK (VALUE <> '');
CREATE DOMAIN onlyonce.sha256 AS bytea CHECK (octet_length(VALUE) = 32);
CREATE DOMAIN onlyonce.bucket AS smallint CHECK (VALUE BETWEEN 0 AND 63);
CREATE DOMAIN onlyonce.command_status AS smallint CHECK (VALUE BETWEEN 0 AND 3);
CREATE DOMAIN onlyonce.event_state AS smallint CHECK (VALUE BETWEEN 0 AND 4);

-- Raises an SQLState of our own (class OO), so that our refusals are never taken for a user's 22012 or 23505.
CREATE FUNCTION onlyonce.raise(state text, message text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message;
END
$$;

-- The same, to be used in statements: preparing a call of a plpgsql function costs a third of an insert in every execution,
-- also where it is never called. VOLATILE, or the planner would call it while planning the CASE that guards it; the SET keeps
-- it from being inlined.
CREATE FUNCTION onlyonce.refuse(state text, message text) RETURNS boolean
    LANGUAGE sql VOLATILE SET search_path = pg_catalog
AS $$ SELECT onlyonce.raise(state, message) $$;

-- One row per command. status: 0 STARTED, 1 COMPLETED, 2 REJECTED, 3 RESOLVED.
-- The id leads the key: time-ordered ids keep their order in the index, which keeps it small and its pages warm.
CREATE TABLE onlyonce.command_dedup (
    started_at     timestamptz NOT NULL,
    finished_at    timestamptz,
    expires_at     timestamptz NOT NULL,                -- no replay after this; 'infinity' without expiry
    forget_at      timestamptz NOT NULL,                -- the purge may take the row after this;
                                                        -- '-infinity' marks a low-road claim that nobody finished yet
    payload_schema integer     NOT NULL DEFAULT 0,      -- the user's own payload version
    status         onlyonce.command_status NOT NULL,
    hash_version   smallint    NOT NULL,
    command_id     onlyonce.name255 NOT NULL,
    operation      onlyonce.name128 NOT NULL,
    caller         onlyonce.name128 NOT NULL,
    tenant         onlyonce.name128 NOT NULL,
    payload_hash   onlyonce.sha256  NOT NULL,
    content_tag    varchar(64),                         -- how to read the result; null with it
    key_id         varchar(64),                         -- the key that result and hash are under; null if in clear
    rejection_code varchar(128),
    resource_type  varchar(128),
    resource_id    varchar(255),
    resolved_by    varchar(128),
    resolved_why   varchar(1000),
    result         bytea,                               -- null: not finished, resolved without result, or tombstone

    CONSTRAINT command_dedup_pkey PRIMARY KEY (command_id, operation, caller, tenant),
    CONSTRAINT command_dedup_status CHECK ((status = 0) = (finished_at IS NULL)
        AND (status = 2) = (rejection_code IS NOT NULL) AND (status = 3) = (resolved_by IS NOT NULL))
) WITH (
    -- A plan made while the table was tiny scans it whole until the next ANALYZE, so do not wait for a tenth of it.
    autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.02
);

-- For the purge, and for finding claims that nobody finished. A column that never changes at the finish of the high
-- road, so that this update stays heap-only.
CREATE INDEX command_dedup_forget ON onlyonce.command_dedup (forget_at) WHERE forget_at < 'infinity';
-- For "how many new ids since": a few bytes per thousand rows, where a btree would cost 80 bytes of WAL for each.
CREATE INDEX command_dedup_started ON onlyonce.command_dedup USING brin (started_at) WITH (autosummarize = on);

-- What retention moved out of command_dedup. An id may appear again after it was forgotten.
CREATE TABLE onlyonce.command_archive (
    archive_id     bigint      NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    archived_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at     timestamptz NOT NULL,
    finished_at    timestamptz,
    expires_at     timestamptz NOT NULL,
    forget_at      timestamptz NOT NULL,
    payload_schema integer     NOT NULL,
    status         onlyonce.command_status NOT NULL,
    hash_version   smallint    NOT NULL,
    command_id     onlyonce.name255 NOT NULL,
    operation      onlyonce.name128 NOT NULL,
    caller         onlyonce.name128 NOT NULL,
    tenant         onlyonce.name128 NOT NULL,
    payload_hash   onlyonce.sha256  NOT NULL,
    content_tag    varchar(64),
    key_id         varchar(64),
    rejection_code varchar(128),
    resource_type  varchar(128),
    resource_id    varchar(255),
    resolved_by    varchar(128),
    resolved_why   varchar(1000),
    result         bytea
);
CREATE INDEX command_archive_id ON onlyonce.command_archive (command_id, operation, caller, tenant);
CREATE INDEX command_archive_age ON onlyonce.command_archive (archived_at);

-- One row per event. state: 0 READY, 1 PUBLISHED, 2 DEAD, 3 WAITING (behind another event of its aggregate), 4 DISCARDED.
CREATE TABLE onlyonce.outbox_event (
    seq               bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,    -- order within a transaction, not across
    aggregate_version bigint,
    created_at        timestamptz NOT NULL DEFAULT now(),
    settled_at        timestamptz,                      -- when it was published or discarded; retention counts from here
    event_id          uuid        NOT NULL,             -- derived from tenant and event key: the same for ever
    bucket            onlyonce.bucket NOT NULL,           -- hash of the aggregate; one relay at a time owns a bucket
    state             onlyonce.event_state NOT NULL DEFAULT 0,
    attempts          smallint    NOT NULL DEFAULT 0,
    event_key         onlyonce.name255 NOT NULL,
    tenant            onlyonce.name128 NOT NULL,
    aggregate_type    onlyonce.name128 NOT NULL,
    aggregate_id      onlyonce.name255 NOT NULL,
    event_type        onlyonce.name128 NOT NULL,
    command_id        varchar(255),
    headers           text,                             -- a JSON object of strings
    last_error        varchar(2000),
    payload           bytea       NOT NULL,

    CONSTRAINT outbox_event_pkey PRIMARY KEY (event_key, tenant),
    CONSTRAINT outbox_event_state CHECK ((state IN (1, 4)) = (settled_at IS NOT NULL))
) WITH (
    autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.02
);
CREATE INDEX outbox_event_ready ON onlyonce.outbox_event (bucket, seq) WHERE state = 0;
CREATE INDEX outbox_event_waiting ON onlyonce.outbox_event (aggregate_id, aggregate_type, tenant, seq) WHERE state = 3;
CREATE INDEX outbox_event_dead ON onlyonce.outbox_event (seq) WHERE state = 2;
-- One for published and discarded events: an index more would be opened and locked by every command that appends.
CREATE INDEX outbox_event_settled ON onlyonce.outbox_event (settled_at) WHERE settled_at IS NOT NULL;

-- Who may publish a bucket's events, until when (on the database's clock), and the fencing token that proves it.
CREATE TABLE onlyonce.outbox_lease (
    expires_at timestamptz NOT NULL DEFAULT '-infinity',
    token      bigint      NOT NULL DEFAULT 0,
    bucket     onlyonce.bucket NOT NULL PRIMARY KEY,
    owner      varchar(255)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);
INSERT INTO onlyonce.outbox_lease (bucket) SELECT generate_series(0, 63);

-- The relays that are alive, so that each takes its share of the buckets.
CREATE TABLE onlyonce.outbox_relay (
    expires_at timestamptz NOT NULL,
    owner      onlyonce.name255 NOT NULL PRIMARY KEY
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0);

-- Aggregates with events in state WAITING: behind one in backoff (blocked_until is set) or behind a dead letter (it is
-- 'infinity'). Once it is due, they are offered in order; the row goes with the last of them.
CREATE TABLE onlyonce.outbox_blocked (
    blocked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    blocked_until  timestamptz NOT NULL,
    bucket         onlyonce.bucket NOT NULL,
    others_wait    boolean     NOT NULL,                -- false: only the failed events themselves wait
    aggregate_id   onlyonce.name255 NOT NULL,
    aggregate_type onlyonce.name128 NOT NULL,
    tenant         onlyonce.name128 NOT NULL,
    CONSTRAINT outbox_blocked_pkey PRIMARY KEY (aggregate_id, aggregate_type, tenant)
) WITH (autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.01);
CREATE INDEX outbox_blocked_until ON onlyonce.outbox_blocked (bucket, blocked_until);

-- One row per message and consumer. status: 0 STARTED, 1 PROCESSED.
CREATE TABLE onlyonce.inbox_message (
    received_at  timestamptz NOT NULL,
    processed_at timestamptz NOT NULL,                  -- '-infinity' marks a claim that nobody finished yet
    status       smallint    NOT NULL,
    hash_version smallint    NOT NULL,
    message_id   onlyonce.name255 NOT NULL,
    source       onlyonce.name255 NOT NULL,
    consumer     onlyonce.name255 NOT NULL,
    tenant       onlyonce.name128 NOT NULL,
    payload_hash onlyonce.sha256  NOT NULL,
    key_id       varchar(64),                           -- the key that the hash is under; null if in clear

    CONSTRAINT inbox_message_pkey PRIMARY KEY (message_id, source, consumer, tenant),
    CONSTRAINT inbox_message_status CHECK (status IN (0, 1))
) WITH (
    autovacuum_analyze_threshold = 500, autovacuum_analyze_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_insert_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.02
);
CREATE INDEX inbox_message_age ON onlyonce.inbox_message (processed_at);

-- How far a projection has followed an aggregate.
CREATE TABLE onlyonce.projection_version (
    version        bigint      NOT NULL CHECK (version >= 0),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    aggregate_id   onlyonce.name255 NOT NULL,
    aggregate_type onlyonce.name128 NOT NULL,
    tenant         onlyonce.name128 NOT NULL,
    projection     onlyonce.name128 NOT NULL,
    CONSTRAINT projection_version_pkey PRIMARY KEY (aggregate_id, aggregate_type, tenant, projection)
) WITH (fillfactor = 80, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.01);

-- How many new ids a caller used in a window; several shards of one counter, so that callers do not queue on a row.
CREATE TABLE onlyonce.key_budget (
    window_start timestamptz NOT NULL,
    used         bigint      NOT NULL CHECK (used >= 0),
    shard        smallint    NOT NULL CHECK (shard >= 0),
    caller       onlyonce.name128 NOT NULL,
    tenant       onlyonce.name128 NOT NULL,
    CONSTRAINT key_budget_pkey PRIMARY KEY (window_start, caller, tenant, shard)
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_scale_factor = 0.01);

-- lz4 stores large results in less than half the time of the default; servers without it (and 13) keep the default.
DO $$
BEGIN
    EXECUTE 'ALTER TABLE onlyonce.command_dedup ALTER COLUMN result SET COMPRESSION lz4';
    EXECUTE 'ALTER TABLE onlyonce.command_archive ALTER COLUMN result SET COMPRESSION lz4';
    EXECUTE 'ALTER TABLE onlyonce.outbox_event ALTER COLUMN payload SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error THEN
    NULL;
END
$$;

INSERT INTO onlyonce.schema_version (version) VALUES (1);
