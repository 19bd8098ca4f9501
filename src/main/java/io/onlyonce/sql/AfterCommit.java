package io.onlyonce.sql;

/** What is done after each commit; it must return at once and not throw. */
@FunctionalInterface
public interface AfterCommit {
    /** Called with the connection still borrowed. */
    void run();
}
