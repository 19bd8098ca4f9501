package io.onlyonce.command;

import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

/**
 * What a command will be stored as; computed once, before the database is touched.
 *
 * @param lockKey excludes every other claim of this command, in every process and release
 * @param keyId the key that hash and result are stored under; null to leave them in clear
 * @param hashVersion the version that the hash is written under
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record NewRow(
        Command command,
        long lockKey,
        Expiry expiry,
        @Nullable String keyId,
        int hashVersion,
        byte[] hash) {

    static NewRow of(Command command, Settings settings) {
        int version =
                settings.hashAlgorithm() == 0
                        ? command.hash().currentVersion()
                        : command.hash().version(settings.hashAlgorithm());
        String keyId = settings.seal().keyId();
        byte[] hash = command.hash().bytes(version);
        return new NewRow(
                command,
                lockKey(settings.schema(), command.scope(), command.id()),
                settings.expiryOf(command),
                keyId,
                version,
                settings.seal().hash(keyId, command.scope(), command.id(), version, hash));
    }

    /**
     * Frozen: old and new releases run side by side in a deployment and must exclude each other.
     */
    static long lockKey(SchemaName schema, CommandScope scope, String id) {
        return Fingerprint.of(
                        "onlyonce/1",
                        schema.value(),
                        "command",
                        scope.tenant(),
                        scope.caller(),
                        scope.operation(),
                        id)
                .toLong();
    }
}
