package io.onlyonce.sql;

import io.onlyonce.payload.ResultCipher;
import io.onlyonce.payload.ResultCodec;

import java.time.Duration;
import java.util.Optional;

import javax.sql.DataSource;

/**
 * What {@code OnlyOnce} was built with, as far as commands and messages go. Of a package that is
 * not exported, so that only the library itself can wire its parts.
 *
 * @param onEvents called after a commit that stored events
 * @param hashAlgorithm what new payload hashes are written with; 0 for the newest
 * @param ttl for commands that state none; empty if each must
 * @param refusedFor how long an expired id is still refused
 */
public record CommandSetup(
        DataSource dataSource,
        Database database,
        SchemaName schema,
        ResultCodec codec,
        Optional<ResultCipher> cipher,
        int resultLimit,
        int hashAlgorithm,
        boolean withoutExpiry,
        Optional<Duration> ttl,
        Optional<Duration> refusedFor,
        EventRows events,
        Runnable onEvents,
        Observer observer,
        Optional<Budget> budget) {

    /** How many new ids each caller may use in a window. */
    public record Budget(long newIds, Duration window) {}
}
