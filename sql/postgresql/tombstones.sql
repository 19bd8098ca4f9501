-- Only where RetentionOptions.tombstoning(…) is used: finds results that have expired. It costs every command about 80 bytes of
-- write-ahead log, so it is no part of the schema. Run it outside of a transaction, or drop the word CONCURRENTLY.
CREATE INDEX CONCURRENTLY IF NOT EXISTS command_dedup_tombstone ON onlyonce.command_dedup (operation, expires_at)
    WHERE content_tag IS NOT NULL;
