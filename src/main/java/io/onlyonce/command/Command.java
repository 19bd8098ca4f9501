package io.onlyonce.command;

import io.onlyonce.payload.PayloadHash;
import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.Names;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * One intent of a caller, sent again under the same id until it is answered. Immutable; every
 * {@code with} makes a copy.
 */
public final class Command {

    private static final Pattern STEP = Pattern.compile("[a-z0-9._-]{1,64}");

    private final CommandScope scope;
    private final String id;
    private final PayloadHash hash;
    private final Expiry expiry;
    private final @Nullable String resourceType;
    private final @Nullable String resourceId;
    private final boolean likelyRetry;
    private final boolean againAfterExpiry;

    private Command(
            CommandScope scope,
            String id,
            PayloadHash hash,
            Expiry expiry,
            @Nullable String resourceType,
            @Nullable String resourceId,
            boolean likelyRetry,
            boolean againAfterExpiry) {
        this.scope = scope;
        this.id = id;
        this.hash = hash;
        this.expiry = expiry;
        this.resourceType = resourceType;
        this.resourceId = resourceId;
        this.likelyRetry = likelyRetry;
        this.againAfterExpiry = againAfterExpiry;
    }

    /**
     * A command of this scope.
     *
     * @param id 1 to 255 printable ASCII characters, chosen by whoever repeats the command
     * @param hash what the command asks for; the same id with another payload is refused
     */
    public static Command of(CommandScope scope, String id, PayloadHash hash) {
        return new Command(
                Objects.requireNonNull(scope, "scope"),
                Names.require(id, "command id", 255),
                Objects.requireNonNull(hash, "hash"),
                Expiry.UNSTATED,
                null,
                null,
                false,
                false);
    }

    /**
     * One step of a saga as a command: its id is the saga's, a colon and the step, so each step
     * happens once, and so does each compensation, which is a step of its own.
     *
     * @param step 1 to 64 of a-z, 0-9, dot, underscore and hyphen
     */
    public static Command sagaStep(
            CommandScope scope, String sagaId, String step, PayloadHash hash) {
        if (!STEP.matcher(Objects.requireNonNull(step, "step")).matches()) {
            throw new IllegalArgumentException(
                    "A saga step must be 1 to 64 of a-z, 0-9, dot, underscore and hyphen; name the"
                            + " step, not its data.");
        }
        return of(scope, Names.require(sagaId, "saga id", 255) + ":" + step, hash);
    }

    /**
     * How long the result is replayed, on the database's clock from the start of the work. For as
     * long again the id is refused as expired; after that it is new. Keep it longer than your
     * clients' longest retry.
     */
    public Command withTtl(Duration ttl) {
        return withTtl(ttl, ttl);
    }

    /** The same with another time for which the id is still refused after it has expired. */
    public Command withTtl(Duration ttl, Duration refusedFor) {
        return with(Expiry.after(ttl, refusedFor));
    }

    /** Replayed for ever; the row is never purged. */
    public Command withoutExpiry() {
        return with(Expiry.NEVER);
    }

    /** What the command is about, kept for operators. */
    public Command about(String resourceType, String resourceId) {
        return new Command(
                scope,
                id,
                hash,
                expiry,
                Names.require(resourceType, "resource type", 128),
                Names.require(resourceId, "resource id", 255),
                likelyRetry,
                againAfterExpiry);
    }

    /**
     * Hints that this is probably a repetition (a retry header, a broker's redelivered flag): one
     * read comes first, which saves a trip if it finds the result and costs one if not.
     */
    public Command likelyRetry() {
        return new Command(
                scope, id, hash, expiry, resourceType, resourceId, true, againAfterExpiry);
    }

    /** Once expired, the command runs again as if its id were new, instead of being refused. */
    public Command againAfterExpiry() {
        return new Command(scope, id, hash, expiry, resourceType, resourceId, likelyRetry, true);
    }

    Command with(Expiry expiry) {
        return new Command(
                scope, id, hash, expiry, resourceType, resourceId, likelyRetry, againAfterExpiry);
    }

    /** The namespace of its id. */
    public CommandScope scope() {
        return scope;
    }

    /** Its id, the same in every repetition. */
    public String id() {
        return id;
    }

    /** What it asks for. */
    public PayloadHash hash() {
        return hash;
    }

    Expiry expiry() {
        return expiry;
    }

    @Nullable String resourceType() {
        return resourceType;
    }

    @Nullable String resourceId() {
        return resourceId;
    }

    boolean isLikelyRetry() {
        return likelyRetry;
    }

    boolean isAgainAfterExpiry() {
        return againAfterExpiry;
    }

    /** The operation and a short hash of the id, fit for logs. */
    @Override
    public String toString() {
        return label(scope, id);
    }

    static String label(CommandScope scope, String id) {
        return scope.operation()
                + " #"
                + Fingerprint.of(scope.tenant(), scope.caller(), id).toShortHex();
    }
}
