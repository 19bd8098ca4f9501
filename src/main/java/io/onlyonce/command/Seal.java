package io.onlyonce.command;

import io.onlyonce.payload.ResultCipher;
import io.onlyonce.payload.ResultCodec;
import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.KeyedHash;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * What of a command's row is kept from readers of the database, and how it is bound to the command:
 * nothing without a cipher; else result, detail of a rejection and payload hash. A row without a
 * key was written in clear, and is read so.
 */
final class Seal {

    private final SchemaName schema;
    private final KeyedHash hashes;

    Seal(SchemaName schema, Optional<ResultCipher> cipher) {
        this.schema = schema;
        hashes = new KeyedHash(cipher);
    }

    /** The key for a new row; null to leave it in clear. */
    @Nullable String keyId() {
        return hashes.keyId();
    }

    /** The hash of this version as it is stored under the key. */
    byte[] hash(@Nullable String keyId, CommandScope scope, String id, int version, byte[] hash) {
        return hashes.of(keyId, hashContext(scope, id, version), hash);
    }

    boolean matches(Command command, StoredRow row) {
        return hashes.matches(
                command.hash(),
                row.hashVersion(),
                row.keyId(),
                hashContext(command.scope(), command.id(), row.hashVersion()),
                row.hash());
    }

    /** What is stored of an end under the key of its row. */
    Final sealed(NewRow row, Final end) {
        String keyId = row.keyId();
        if (keyId == null) {
            return end;
        }
        Command command = row.command();
        String tag = end.result().tag();
        byte[] context =
                context(command.scope(), command.id(), end.status(), tag, end.rejectionCode());
        byte[] bytes = hashes.cipher(keyId).encrypt(keyId, context, end.result().bytes());
        return new Final(end.status(), new ResultCodec.Encoded(tag, bytes), end.rejectionCode());
    }

    /** The stored result; null if there is none. */
    ResultCodec.@Nullable Encoded result(Command command, StoredRow row) {
        String tag = row.contentTag();
        byte[] bytes = row.result();
        if (tag == null || bytes == null) {
            return null;
        }
        String keyId = row.keyId();
        if (keyId == null) {
            return new ResultCodec.Encoded(tag, bytes);
        }
        byte[] context =
                context(command.scope(), command.id(), row.status(), tag, row.rejectionCode());
        return new ResultCodec.Encoded(tag, hashes.cipher(keyId).decrypt(keyId, context, bytes));
    }

    Rejection rejection(Command command, StoredRow row) {
        ResultCodec.Encoded detail = result(command, row);
        return new Rejection(
                row.rejectionCode() == null ? "" : row.rejectionCode(),
                detail == null ? "" : new String(detail.bytes(), StandardCharsets.UTF_8));
    }

    /**
     * What an operator's result is stored as: under the key that the row's hash is under already,
     * or, where that is in clear, both under the current one.
     */
    Resolution.Settled sealed(
            CommandScope scope, String id, StoredRow row, Resolution.Settled settled) {
        byte[] bytes = settled.bytes();
        String tag = settled.tag();
        String keyId = row.keyId() == null ? keyId() : row.keyId();
        if (bytes == null || tag == null || keyId == null) {
            return settled.under(row.keyId(), row.hash(), bytes);
        }
        byte[] hash =
                row.keyId() == null
                        ? hash(keyId, scope, id, row.hashVersion(), row.hash())
                        : row.hash();
        byte[] context = context(scope, id, StoredRow.RESOLVED, tag, null);
        return settled.under(keyId, hash, hashes.cipher(keyId).encrypt(keyId, context, bytes));
    }

    private byte[] hashContext(CommandScope scope, String id, int version) {
        return context("hash", scope, id, Integer.toString(version));
    }

    private byte[] context(
            CommandScope scope, String id, int status, String tag, @Nullable String rejection) {
        return context(
                "result",
                scope,
                id,
                Integer.toString(status),
                tag,
                rejection == null ? "" : rejection);
    }

    /** Frozen: rows outlive releases. */
    private byte[] context(String what, CommandScope scope, String id, String... more) {
        var texts = new String[7 + more.length];
        texts[0] = "onlyonce/1";
        texts[1] = what;
        texts[2] = schema.value();
        texts[3] = scope.tenant();
        texts[4] = scope.caller();
        texts[5] = scope.operation();
        texts[6] = id;
        System.arraycopy(more, 0, texts, 7, more.length);
        return Fingerprint.framed(texts);
    }
}
