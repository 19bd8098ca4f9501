package io.onlyonce.http;

import io.onlyonce.command.Command;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.sql.Names;
import io.onlyonce.tx.TransactionOptions;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * One endpoint and how it is protected. What it does not state is as in {@code OnlyOnce}. A key is
 * required unless it says otherwise. Immutable; every {@code with} makes a copy.
 */
public final class HttpOperation {

    /** {@code {id}}, and with a framework's additions {@code {id:[0-9]+}} and {@code {*rest}}. */
    private static final Pattern VARIABLE = Pattern.compile("\\{\\*?([^/{}:]+)(:[^/]*)?\\}");

    private static final Command PROBE =
            Command.of(
                    new CommandScope("any", "any", "any"), "any", PayloadHash.ofBytes(new byte[0]));

    /** Says where the status of a command can be asked for. */
    @FunctionalInterface
    public interface StatusLocation extends BiFunction<RequestParts, IdempotencyKey, String> {}

    private record Settings(
            boolean keyRequired,
            UnaryOperator<Command> expiry,
            @Nullable InFlightPolicy inFlight,
            @Nullable TransactionOptions transaction,
            @Nullable StatusLocation statusLocation) {}

    private final String name;
    private final String method;
    private final String route;
    private final Set<String> variables;
    private final Settings settings;

    private HttpOperation(String name, String method, String route, Settings settings) {
        this.name = name;
        this.method = method;
        this.route = route;
        this.settings = settings;
        variables =
                VARIABLE.matcher(route)
                        .results()
                        .map((MatchResult match) -> match.group(1))
                        .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * An endpoint.
     *
     * @param name the operation in the scope of its commands, for example {@code case.approve}
     * @param method the HTTP method
     * @param route the template of its path, for example <code>/cases/{caseId}/approvals</code>;
     *     each variable must be among the parts of every request
     */
    public static HttpOperation of(String name, String method, String route) {
        return new HttpOperation(
                new CommandScope("any", "any", name).operation(),
                Names.require(method, "method", 32),
                Names.require(route, "route", 1_000),
                new Settings(true, command -> command, null, null, null));
    }

    private HttpOperation with(Settings changed) {
        return new HttpOperation(name, method, route, changed);
    }

    /**
     * Requests without a key are let through: in a transaction, but unprotected, so that a second
     * attempt is a second effect. Those with a key are protected.
     */
    public HttpOperation withOptionalKey() {
        return with(
                new Settings(
                        false,
                        settings.expiry,
                        settings.inFlight,
                        settings.transaction,
                        settings.statusLocation));
    }

    /** How long answers are replayed; as long again the key is refused as expired. */
    public HttpOperation withTtl(Duration ttl) {
        return withTtl(ttl, ttl);
    }

    /** The same with another time for which an expired key is still refused. */
    public HttpOperation withTtl(Duration ttl, Duration refusedFor) {
        return withExpiry(command -> command.withTtl(ttl, refusedFor));
    }

    /** Answers are replayed for ever. */
    public HttpOperation withoutExpiry() {
        return withExpiry(Command::withoutExpiry);
    }

    private HttpOperation withExpiry(UnaryOperator<Command> expiry) {
        Objects.requireNonNull(expiry.apply(PROBE)); // bad durations fail here, not at a request
        return with(
                new Settings(
                        settings.keyRequired,
                        expiry,
                        settings.inFlight,
                        settings.transaction,
                        settings.statusLocation));
    }

    /** What a duplicate of a running request does. */
    public HttpOperation withInFlight(InFlightPolicy inFlight) {
        return with(
                new Settings(
                        settings.keyRequired,
                        settings.expiry,
                        Objects.requireNonNull(inFlight, "inFlight"),
                        settings.transaction,
                        settings.statusLocation));
    }

    /** Isolation level, retries and timeouts. */
    public HttpOperation withTransaction(TransactionOptions transaction) {
        return with(
                new Settings(
                        settings.keyRequired,
                        settings.expiry,
                        settings.inFlight,
                        Objects.requireNonNull(transaction, "transaction"),
                        settings.statusLocation));
    }

    /**
     * A duplicate of a running request, once the policy's wait is over, is answered with 202 and
     * the location of a status resource instead of 409. Serve that resource with {@link
     * HttpIdempotency#status}, to the same tenant and caller only.
     */
    public HttpOperation withStatusLocation(StatusLocation location) {
        return with(
                new Settings(
                        settings.keyRequired,
                        settings.expiry,
                        settings.inFlight,
                        settings.transaction,
                        Objects.requireNonNull(location, "location")));
    }

    /** The operation in the scope of its commands. */
    public String name() {
        return name;
    }

    /** The HTTP method. */
    public String method() {
        return method;
    }

    /** The template of its path. */
    public String route() {
        return route;
    }

    boolean isKeyRequired() {
        return settings.keyRequired;
    }

    Command withExpiry(Command command) {
        return settings.expiry.apply(command);
    }

    Optional<InFlightPolicy> inFlight() {
        return Optional.ofNullable(settings.inFlight);
    }

    Optional<TransactionOptions> transaction() {
        return Optional.ofNullable(settings.transaction);
    }

    Optional<StatusLocation> statusLocation() {
        return Optional.ofNullable(settings.statusLocation);
    }

    /** A forgotten variable would make requests about different things the same request. */
    void refuseIfIncomplete(RequestParts request) {
        if (!variables.equals(request.path().keySet())) {
            throw new IllegalArgumentException(
                    "The route %s has the variables %s, the request has values for %s; state each with withPath(…)."
                            .formatted(route, variables, request.path().keySet()));
        }
    }

    /** Method and route. */
    @Override
    public String toString() {
        return method + " " + route;
    }
}
