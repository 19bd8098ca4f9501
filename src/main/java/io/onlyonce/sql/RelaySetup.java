package io.onlyonce.sql;

import javax.sql.DataSource;

/**
 * What {@code OnlyOnce} was built with, as far as relays go. Of a package that is not exported, so
 * that only the library itself can wire its parts.
 */
public record RelaySetup(
        DataSource dataSource,
        Database database,
        SchemaName schema,
        boolean poolAutoCommitOff,
        Observer observer) {}
