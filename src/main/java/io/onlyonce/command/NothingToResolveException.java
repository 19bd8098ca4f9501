package io.onlyonce.command;

import io.onlyonce.OnlyOnceException;

/** There is no committed claim without a completion under this id; nothing was changed. */
public final class NothingToResolveException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    NothingToResolveException(CommandScope scope, String id, String why) {
        super(
                "%s: nothing to resolve, %s. Ask CommandDedup.find what became of it."
                        .formatted(Command.label(scope, id), why));
    }
}
