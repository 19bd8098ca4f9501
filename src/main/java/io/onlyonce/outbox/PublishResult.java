package io.onlyonce.outbox;

import java.util.Objects;
import java.util.Optional;

/**
 * What a publisher says of one event.
 *
 * @param kind what happened
 * @param error why it failed; kept with the event, cut to 2,000 characters
 */
public record PublishResult(Kind kind, Optional<String> error) {

    /** What can happen to an event. */
    public enum Kind {
        /** The broker has it. */
        PUBLISHED,
        /** It failed, and this counts as one of its attempts. */
        FAILED,
        /** It was not tried, because an earlier event of its aggregate failed. */
        NOT_TRIED
    }

    private static final PublishResult PUBLISHED =
            new PublishResult(Kind.PUBLISHED, Optional.empty());
    private static final PublishResult NOT_TRIED =
            new PublishResult(Kind.NOT_TRIED, Optional.empty());

    /** The broker has it. */
    public static PublishResult published() {
        return PUBLISHED;
    }

    /** It failed; put nothing secret into the error. */
    public static PublishResult failed(String error) {
        return new PublishResult(Kind.FAILED, Optional.of(Objects.requireNonNull(error, "error")));
    }

    /** It was not tried, because an earlier event of its aggregate failed. */
    public static PublishResult notTried() {
        return NOT_TRIED;
    }
}
