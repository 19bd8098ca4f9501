package io.onlyonce.command;

import io.onlyonce.sql.Names;

/**
 * The namespace of command ids: the same id in two scopes is two commands. Each part is 1 to 128
 * printable ASCII characters.
 *
 * @param tenant whose data it is about
 * @param caller who sends it
 * @param operation what is asked for, for example {@code case.approve}
 */
public record CommandScope(String tenant, String caller, String operation) {

    /** Refuses parts that could not be stored, with a sentence. */
    public CommandScope {
        Names.require(tenant, "tenant", 128);
        Names.require(caller, "caller", 128);
        Names.require(operation, "operation", 128);
    }
}
