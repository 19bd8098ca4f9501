package io.onlyonce.command;

/**
 * A transaction committed its claim without completing it; nothing runs until an operator settles
 * it.
 */
public final class CommandOutcomeUnknownException extends CommandException {

    private static final long serialVersionUID = 1L;

    CommandOutcomeUnknownException(Command command) {
        super(
                command,
                "it was started and never completed, so nobody knows what became of it. Look for"
                        + " its effect, then settle it with CommandDedup.resolve.");
    }
}
