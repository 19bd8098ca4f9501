package io.onlyonce.inbox;

import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.SchemaName;

/**
 * What a message will be stored as; computed once, before the database is touched.
 *
 * @param lockKey excludes every other claim of this message by this consumer, in every process and
 *     release
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record InboxRow(InboxMessage message, String consumer, long lockKey, int hashVersion, byte[] hash) {

    static InboxRow of(
            SchemaName schema, String consumer, int hashAlgorithm, InboxMessage message) {
        int version =
                hashAlgorithm == 0
                        ? message.hash().currentVersion()
                        : message.hash().version(hashAlgorithm);
        return new InboxRow(
                message,
                consumer,
                lockKey(schema, consumer, message),
                version,
                message.hash().bytes(version));
    }

    /**
     * Frozen: old and new releases run side by side in a deployment and must exclude each other.
     */
    static long lockKey(SchemaName schema, String consumer, InboxMessage message) {
        return Fingerprint.of(
                        "onlyonce/1",
                        schema.value(),
                        "message",
                        message.tenant(),
                        consumer,
                        message.source(),
                        message.id())
                .toLong();
    }
}
