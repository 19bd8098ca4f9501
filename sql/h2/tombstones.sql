-- Only where RetentionOptions.tombstoning(…) is used: finds results that have expired.
CREATE INDEX IF NOT EXISTS onlyonce.command_dedup_tombstone ON onlyonce.command_dedup (operation, expires_at);
