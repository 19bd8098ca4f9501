package io.onlyonce.inbox;

/**
 * What a {@link VersionGuard} says about a version.
 *
 * @param kind what to do with it
 * @param expected the version that is to be applied next, after this answer
 */
public record Advance(Kind kind, long expected) {

    /** What to do with a version. */
    public enum Kind {
        /** It is the next one and is counted as applied with this transaction: apply it. */
        APPLY,
        /** It was applied before: do nothing, and acknowledge it. */
        STALE,
        /** One before it is missing: do nothing, and do not acknowledge it. */
        GAP
    }

    /** True if the caller is to apply it. */
    public boolean isApply() {
        return kind == Kind.APPLY;
    }
}
