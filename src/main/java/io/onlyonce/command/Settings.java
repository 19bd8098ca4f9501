package io.onlyonce.command;

import io.onlyonce.payload.ResultCodec;
import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.CommandSetup;
import io.onlyonce.sql.SchemaName;

import org.jspecify.annotations.Nullable;

/**
 * What holds for all commands of one {@code OnlyOnce}.
 *
 * @param expiry for commands that state none; null if each must
 * @param hashAlgorithm the algorithm that new hashes are written with; 0 for the newest
 */
record Settings(
        SchemaName schema,
        ResultCodec codec,
        int resultLimit,
        int hashAlgorithm,
        @Nullable Expiry expiry,
        Seal seal) {

    static Settings of(CommandSetup setup) {
        Expiry expiry =
                setup.withoutExpiry()
                        ? Expiry.NEVER
                        : setup.ttl()
                                .map(ttl -> Expiry.after(ttl, setup.refusedFor().orElse(ttl)))
                                .orElse(null);
        return new Settings(
                setup.schema(),
                setup.codec(),
                setup.resultLimit(),
                setup.hashAlgorithm(),
                expiry,
                new Seal(setup.schema(), setup.cipher()));
    }

    Expiry expiryOf(Command command) {
        if (!command.expiry().equals(Expiry.UNSTATED)) {
            return command.expiry();
        }
        if (expiry == null) {
            throw new IllegalArgumentException(
                    "How long is a result of this command to be replayed? Say it with"
                            + " command.withTtl(…) or withoutExpiry(), or for all commands with"
                            + " OnlyOnce.on(…).withTtl(…).");
        }
        return expiry;
    }

    /** Refuses, before anything is sent, what is too large to be stored. */
    <T> ResultCodec.Encoded encode(Command command, @Nullable T value, ResultType<T> type) {
        return checked(command, codec.encode(value, type));
    }

    ResultCodec.Encoded checked(Command command, ResultCodec.Encoded result) {
        if (result.bytes().length > resultLimit) {
            throw new ResultTooLargeException(command, result.bytes().length, resultLimit);
        }
        return result;
    }
}
