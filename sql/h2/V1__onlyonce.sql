-- OnlyOnce, version 1, for H2 2.x: for trying out and for unit tests. sql/postgresql holds the reference and its comments.
-- H2 has no partial indexes, no advisory locks and no infinite times: NULL-free sentinels stand in for the latter.
-- Every statement may be repeated, because H2 commits each CREATE by itself.

CREATE SCHEMA IF NOT EXISTS onlyonce;

CREATE TABLE IF NOT EXISTS onlyonce.schema_version (
    version    integer NOT NULL PRIMARY KEY,
    applied_at timestamp(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL
);

-- Stands in for advisory locks: a try-lock is SELECT … FOR UPDATE SKIP LOCKED on the row that an id hashes to.
CREATE TABLE IF NOT EXISTS onlyonce.lock_stripe (
    stripe integer NOT NULL PRIMARY KEY
);
MERGE INTO onlyonce.lock_stripe (stripe) SELECT * FROM SYSTEM_RANGE(0, 1023);

CREATE TABLE IF NOT EXISTS onlyonce.command_dedup (
    started_at     timestamp(6) WITH TIME ZONE NOT NULL,
    finished_at    timestamp(6) WITH TIME ZONE,
    expires_at     timestamp(6) WITH TIME ZONE NOT NULL,
    forget_at      timestamp(6) WITH TIME ZONE NOT NULL,
    payload_schema integer DEFAULT 0 NOT NULL,
    status         smallint NOT NULL,
    hash_version   smallint NOT NULL,
    command_id     varchar(255) NOT NULL CHECK (length(command_id) >= 1),
    operation      varchar(128) NOT NULL CHECK (length(operation) >= 1),
    caller         varchar(128) NOT NULL CHECK (length(caller) >= 1),
    tenant         varchar(128) NOT NULL CHECK (length(tenant) >= 1),
    payload_hash   varbinary(32) NOT NULL CHECK (octet_length(payload_hash) = 32),
    content_tag    varchar(64),
    key_id         varchar(64),
    rejection_code varchar(128),
    resource_type  varchar(128),
    resource_id    varchar(255),
    resolved_by    varchar(128),
    resolved_why   varchar(1000),
    result         binary large object,

    CONSTRAINT command_dedup_pkey PRIMARY KEY (command_id, operation, caller, tenant),
    CONSTRAINT command_dedup_times CHECK (expires_at >= started_at AND (status = 0 OR forget_at >= expires_at)),
    CONSTRAINT command_dedup_result CHECK ((result IS NULL) = (content_tag IS NULL)),
    CONSTRAINT command_dedup_status CHECK (CASE status
        WHEN 0 THEN finished_at IS NULL AND result IS NULL AND rejection_code IS NULL AND resolved_by IS NULL
        WHEN 1 THEN finished_at IS NOT NULL AND rejection_code IS NULL AND resolved_by IS NULL
        WHEN 2 THEN finished_at IS NOT NULL AND rejection_code IS NOT NULL AND resolved_by IS NULL
        WHEN 3 THEN finished_at IS NOT NULL AND rejection_code IS NULL
                    AND resolved_by IS NOT NULL AND resolved_why IS NOT NULL
        ELSE FALSE END)
);
CREATE INDEX IF NOT EXISTS onlyonce.command_dedup_forget ON onlyonce.command_dedup (forget_at);
CREATE INDEX IF NOT EXISTS onlyonce.command_dedup_started ON onlyonce.command_dedup (started_at);

CREATE TABLE IF NOT EXISTS onlyonce.command_archive (
    archive_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    archived_at    timestamp(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL,
    started_at     timestamp(6) WITH TIME ZONE NOT NULL,
    finished_at    timestamp(6) WITH TIME ZONE,
    expires_at     timestamp(6) WITH TIME ZONE NOT NULL,
    forget_at      timestamp(6) WITH TIME ZONE NOT NULL,
    payload_schema integer NOT NULL,
    status         smallint NOT NULL,
    hash_version   smallint NOT NULL,
    command_id     varchar(255) NOT NULL,
    operation      varchar(128) NOT NULL,
    caller         varchar(128) NOT NULL,
    tenant         varchar(128) NOT NULL,
    payload_hash   varbinary(32) NOT NULL,
    content_tag    varchar(64),
    key_id         varchar(64),
    rejection_code varchar(128),
    resource_type  varchar(128),
    resource_id    varchar(255),
    resolved_by    varchar(128),
    resolved_why   varchar(1000),
    result         binary large object
);
CREATE INDEX IF NOT EXISTS onlyonce.command_archive_id
    ON onlyonce.command_archive (command_id, operation, caller, tenant);
CREATE INDEX IF NOT EXISTS onlyonce.command_archive_age ON onlyonce.command_archive (archived_at);

CREATE TABLE IF NOT EXISTS onlyonce.outbox_event (
    seq               bigint GENERATED ALWAYS AS IDENTITY,
    aggregate_version bigint,
    created_at        timestamp(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL,
    settled_at        timestamp(6) WITH TIME ZONE,
    event_id          uuid NOT NULL,
    bucket            smallint NOT NULL,
    state             smallint DEFAULT 0 NOT NULL,
    attempts          smallint DEFAULT 0 NOT NULL,
    event_key         varchar(255) NOT NULL CHECK (length(event_key) >= 1),
    tenant            varchar(128) NOT NULL CHECK (length(tenant) >= 1),
    aggregate_type    varchar(128) NOT NULL CHECK (length(aggregate_type) >= 1),
    aggregate_id      varchar(255) NOT NULL CHECK (length(aggregate_id) >= 1),
    event_type        varchar(128) NOT NULL CHECK (length(event_type) >= 1),
    command_id        varchar(255),
    headers           varchar,
    last_error        varchar(2000),
    payload           binary large object NOT NULL,

    CONSTRAINT outbox_event_pkey PRIMARY KEY (event_key, tenant),
    CONSTRAINT outbox_event_bucket CHECK (bucket BETWEEN 0 AND 63),
    CONSTRAINT outbox_event_attempts CHECK (attempts >= 0),
    CONSTRAINT outbox_event_state CHECK (state BETWEEN 0 AND 4 AND (state IN (1, 4)) = (settled_at IS NOT NULL))
);
CREATE INDEX IF NOT EXISTS onlyonce.outbox_event_ready ON onlyonce.outbox_event (state, bucket, seq);
CREATE INDEX IF NOT EXISTS onlyonce.outbox_event_waiting
    ON onlyonce.outbox_event (aggregate_id, aggregate_type, tenant, seq);
CREATE INDEX IF NOT EXISTS onlyonce.outbox_event_settled ON onlyonce.outbox_event (settled_at);

CREATE TABLE IF NOT EXISTS onlyonce.outbox_lease (
    expires_at timestamp(6) WITH TIME ZONE DEFAULT TIMESTAMP WITH TIME ZONE '0001-01-01 00:00:00+00' NOT NULL,
    token      bigint DEFAULT 0 NOT NULL,
    bucket     smallint NOT NULL PRIMARY KEY CHECK (bucket BETWEEN 0 AND 63),
    owner      varchar(255)
);
MERGE INTO onlyonce.outbox_lease (bucket) SELECT * FROM SYSTEM_RANGE(0, 63);

CREATE TABLE IF NOT EXISTS onlyonce.outbox_relay (
    expires_at timestamp(6) WITH TIME ZONE NOT NULL,
    owner      varchar(255) NOT NULL PRIMARY KEY
);

CREATE TABLE IF NOT EXISTS onlyonce.outbox_blocked (
    blocked_at     timestamp(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL,
    blocked_until  timestamp(6) WITH TIME ZONE NOT NULL,
    bucket         smallint NOT NULL CHECK (bucket BETWEEN 0 AND 63),
    others_wait    boolean NOT NULL,
    aggregate_id   varchar(255) NOT NULL,
    aggregate_type varchar(128) NOT NULL,
    tenant         varchar(128) NOT NULL,
    CONSTRAINT outbox_blocked_pkey PRIMARY KEY (aggregate_id, aggregate_type, tenant)
);
CREATE INDEX IF NOT EXISTS onlyonce.outbox_blocked_until ON onlyonce.outbox_blocked (bucket, blocked_until);

CREATE TABLE IF NOT EXISTS onlyonce.inbox_message (
    received_at  timestamp(6) WITH TIME ZONE NOT NULL,
    processed_at timestamp(6) WITH TIME ZONE NOT NULL,
    status       smallint NOT NULL,
    hash_version smallint NOT NULL,
    message_id   varchar(255) NOT NULL CHECK (length(message_id) >= 1),
    source       varchar(255) NOT NULL CHECK (length(source) >= 1),
    consumer     varchar(255) NOT NULL CHECK (length(consumer) >= 1),
    tenant       varchar(128) NOT NULL CHECK (length(tenant) >= 1),
    payload_hash varbinary(32) NOT NULL CHECK (octet_length(payload_hash) = 32),
    key_id       varchar(64),

    CONSTRAINT inbox_message_pkey PRIMARY KEY (message_id, source, consumer, tenant),
    CONSTRAINT inbox_message_status CHECK (status IN (0, 1) AND (status = 0 OR processed_at >= received_at))
);
CREATE INDEX IF NOT EXISTS onlyonce.inbox_message_age ON onlyonce.inbox_message (processed_at);

CREATE TABLE IF NOT EXISTS onlyonce.projection_version (
    version        bigint NOT NULL CHECK (version >= 0),
    updated_at     timestamp(6) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP NOT NULL,
    aggregate_id   varchar(255) NOT NULL CHECK (length(aggregate_id) >= 1),
    aggregate_type varchar(128) NOT NULL CHECK (length(aggregate_type) >= 1),
    tenant         varchar(128) NOT NULL CHECK (length(tenant) >= 1),
    projection     varchar(128) NOT NULL CHECK (length(projection) >= 1),
    CONSTRAINT projection_version_pkey PRIMARY KEY (aggregate_id, aggregate_type, tenant, projection)
);

CREATE TABLE IF NOT EXISTS onlyonce.key_budget (
    window_start timestamp(6) WITH TIME ZONE NOT NULL,
    used         bigint NOT NULL CHECK (used >= 0),
    shard        smallint NOT NULL CHECK (shard >= 0),
    caller       varchar(128) NOT NULL CHECK (length(caller) >= 1),
    tenant       varchar(128) NOT NULL CHECK (length(tenant) >= 1),
    CONSTRAINT key_budget_pkey PRIMARY KEY (window_start, caller, tenant, shard)
);

MERGE INTO onlyonce.schema_version (version) VALUES (1);
