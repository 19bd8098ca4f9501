package io.onlyonce.inbox;

import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.KeyedHash;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

/**
 * What a message will be stored as; computed once, before the database is touched.
 *
 * @param lockKey excludes every other claim of this message by this consumer, in every process and
 *     release
 * @param keyId the key that the hash is stored under; null to leave it in clear
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record InboxRow(
        InboxMessage message,
        String consumer,
        long lockKey,
        @Nullable String keyId,
        int hashVersion,
        byte[] hash,
        Matching matching) {

    /** Compares the payload with a row of the same message. */
    interface Matching {
        boolean matches(int hashVersion, @Nullable String keyId, byte[] hash);
    }

    static InboxRow of(
            CommandSetup setup, KeyedHash hashes, String consumer, InboxMessage message) {
        int version =
                setup.hashAlgorithm() == 0
                        ? message.hash().currentVersion()
                        : message.hash().version(setup.hashAlgorithm());
        SchemaName schema = setup.schema();
        String keyId = hashes.keyId();
        byte[] hash = message.hash().bytes(version);
        return new InboxRow(
                message,
                consumer,
                lockKey(schema, consumer, message),
                keyId,
                version,
                hashes.of(keyId, context(schema, consumer, message, version), hash),
                (storedVersion, storedKey, stored) ->
                        hashes.matches(
                                message.hash(),
                                storedVersion,
                                storedKey,
                                context(schema, consumer, message, storedVersion),
                                stored));
    }

    /** Frozen: rows outlive releases. */
    private static byte[] context(
            SchemaName schema, String consumer, InboxMessage message, int version) {
        return Fingerprint.framed(
                "onlyonce/1",
                "message hash",
                schema.value(),
                message.tenant(),
                consumer,
                message.source(),
                message.id(),
                Integer.toString(version));
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
