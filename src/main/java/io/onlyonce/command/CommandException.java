package io.onlyonce.command;

import io.onlyonce.OnlyOnceException;

import org.jspecify.annotations.Nullable;

/** What is wrong with one command. The message names it by operation and short hash only. */
public abstract class CommandException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final transient @Nullable Command command;

    CommandException(Command command, String message) {
        super(command + ": " + message);
        this.command = command;
    }

    CommandException(Command command, String message, @Nullable Throwable cause) {
        super(command + ": " + message, cause);
        this.command = command;
    }

    /** The command; null after this exception was serialized. */
    public @Nullable Command command() {
        return command;
    }
}
