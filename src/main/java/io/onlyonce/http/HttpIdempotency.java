package io.onlyonce.http;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandInfo;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.Rejection;
import io.onlyonce.command.RunOptions;
import io.onlyonce.outbox.EventBuffer;
import io.onlyonce.payload.InvalidPayloadException;
import io.onlyonce.payload.JsonLimits;

import java.sql.SQLException;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Runs the handlers of an API so that a request may be sent again: the same key, of the same
 * caller, for the same request has one effect and one answer.
 *
 * <p>Claim, the handler's writes, its events and the response are one transaction, decided by the
 * response's status as {@link StatusAction} says. Whatever the key itself makes impossible is
 * answered with a problem document. Exceptions of the handler, and errors of the database, pass
 * through; everything is rolled back then and the key is free, so answer them with 5xx and without
 * their text.
 *
 * <p>Authenticate first: tenant and caller are part of what a key means. Immutable and thread-safe;
 * every {@code with} makes a copy. A call blocks its thread like {@code CommandRunner.run}.
 */
public final class HttpIdempotency {

    /** The header, with the value {@code true}, of responses for which the handler did not run. */
    public static final String REPLAYED_HEADER = "Idempotency-Replayed";

    /**
     * Handles one request. It may run several times, in transactions of which at most one commits;
     * keep its side effects in the database.
     *
     * @param <X> what it may throw besides {@link SQLException}
     */
    @FunctionalInterface
    public interface Handler<X extends Exception> {
        /**
         * Does the work and answers. It may also throw {@link CommandRejectedException}, which is
         * stored like a response of the kind {@link StatusAction#UNDO_AND_STORE}.
         */
        StoredResponse handle(HttpWork work) throws X, SQLException;
    }

    private final OnlyOnce once;
    private final KeyFormat keys;
    private final Fingerprints fingerprints;
    private final ReplayedHeaders headers;
    private final Map<Integer, StatusAction> actions;
    private final UnaryOperator<ProblemDetails> problems;
    private final Function<Rejection, StoredResponse> rejections;

    private HttpIdempotency(
            OnlyOnce once,
            KeyFormat keys,
            Fingerprints fingerprints,
            ReplayedHeaders headers,
            Map<Integer, StatusAction> actions,
            UnaryOperator<ProblemDetails> problems,
            Function<Rejection, StoredResponse> rejections) {
        this.once = once;
        this.keys = keys;
        this.fingerprints = fingerprints;
        this.headers = headers;
        this.actions = actions;
        this.problems = problems;
        this.rejections = rejections;
    }

    /**
     * With strict keys and the tables as they stand in the documentation.
     *
     * @throws IllegalArgumentException if the defaults of {@code once} store no rejections, because
     *     a 4xx could not be stored then
     */
    public static HttpIdempotency on(OnlyOnce once) {
        if (!once.commands().defaults().storesRejections()) {
            throw new IllegalArgumentException(
                    "HTTP responses with which writes are undone are stored as rejections; leave"
                            + " withoutRejections() out of the defaults.");
        }
        return new HttpIdempotency(
                once,
                KeyFormat.strict(),
                new Fingerprints(JsonLimits.DEFAULTS),
                ReplayedHeaders.STANDARD,
                Map.of(),
                problem -> problem,
                Answers::rejected);
    }

    /** With other rules for keys. */
    public HttpIdempotency withKeys(KeyFormat keys) {
        return new HttpIdempotency(
                once,
                Objects.requireNonNull(keys, "keys"),
                fingerprints,
                headers,
                actions,
                problems,
                rejections);
    }

    /** With other limits for JSON bodies. */
    public HttpIdempotency withJsonLimits(JsonLimits limits) {
        return new HttpIdempotency(
                once, keys, new Fingerprints(limits), headers, actions, problems, rejections);
    }

    /**
     * With one more header that is stored and replayed.
     *
     * @throws IllegalArgumentException if it belongs to one connection, moment or caller
     */
    public HttpIdempotency withReplayedHeader(String name) {
        return new HttpIdempotency(
                once, keys, fingerprints, headers.with(name), actions, problems, rejections);
    }

    /** With another action for a status. */
    public HttpIdempotency withAction(int status, StatusAction action) {
        Map<Integer, StatusAction> more = new TreeMap<>(actions);
        more.put(StoredResponse.of(status).status(), Objects.requireNonNull(action, "action"));
        return new HttpIdempotency(
                once,
                keys,
                fingerprints,
                headers,
                Collections.unmodifiableMap(more),
                problems,
                rejections);
    }

    /** With every problem document passed through this: other statuses, URIs or languages. */
    public HttpIdempotency withProblems(UnaryOperator<ProblemDetails> problems) {
        return new HttpIdempotency(
                once,
                keys,
                fingerprints,
                headers,
                actions,
                Objects.requireNonNull(problems, "problems"),
                rejections);
    }

    /** With another answer for what a handler throws as {@link CommandRejectedException}. */
    public HttpIdempotency withRejections(Function<Rejection, StoredResponse> rejections) {
        return new HttpIdempotency(
                once,
                keys,
                fingerprints,
                headers,
                actions,
                problems,
                Objects.requireNonNull(rejections, "rejections"));
    }

    /**
     * Answers the request: by running the handler, by replaying what it answered before, or with a
     * problem document.
     *
     * @throws X what the handler threw; everything is rolled back and the key is free
     */
    public <X extends Exception> StoredResponse handle(
            HttpOperation operation, RequestParts request, Handler<X> handler)
            throws X, SQLException {
        operation.refuseIfIncomplete(request);
        if (request.key().isEmpty() && !operation.isKeyRequired()) {
            return unprotected(operation, request, handler);
        }
        Command command;
        try {
            command = command(operation, request);
        } catch (InvalidIdempotencyKeyException e) {
            return answers().invalidKey(e);
        } catch (InvalidPayloadException e) {
            return answers().invalidPayload(e);
        }
        return new HttpRun<>(this, operation, request, command, handler).run();
    }

    /**
     * The command that the request stands for.
     *
     * @throws InvalidIdempotencyKeyException if it has no key that is accepted
     * @throws InvalidPayloadException if it has no single meaning
     */
    public Command command(HttpOperation operation, RequestParts request) {
        operation.refuseIfIncomplete(request);
        IdempotencyKey key = keys.parse(request.key());
        var scope = new CommandScope(request.tenant(), request.caller(), operation.name());
        Command command = Command.of(scope, key.value(), fingerprints.of(operation, request));
        if (request.about().isPresent()) {
            RequestParts.About about = request.about().get();
            command = command.about(about.type(), about.id());
        }
        return operation.withExpiry(command);
    }

    /**
     * Where a request stands, for the resource that {@link HttpOperation#withStatusLocation} points
     * to: in flight, final, or to be sent again. Everybody else's keys look like unknown ones.
     *
     * @param key the key itself, without quotes
     */
    public StoredResponse status(HttpOperation operation, String tenant, String caller, String key)
            throws SQLException {
        var scope = new CommandScope(tenant, caller, operation.name());
        CommandInfo.State state;
        try {
            state =
                    once.transactions()
                            .<CommandInfo, RuntimeException>execute(
                                    options(operation).transaction(),
                                    connection -> once.dedup().find(connection, scope, key))
                            .state();
        } catch (IllegalArgumentException e) { // no key could ever be so
            state = CommandInfo.State.NOT_FOUND;
        }
        return Answers.status(state);
    }

    /** In a transaction, so that the table of statuses holds; without a key there is no more. */
    private <X extends Exception> StoredResponse unprotected(
            HttpOperation operation, RequestParts request, Handler<X> handler)
            throws X, SQLException {
        try {
            return once.transactions()
                    .<StoredResponse, X>execute(
                            options(operation).transaction(),
                            connection -> {
                                var outbox = new EventBuffer();
                                StoredResponse response =
                                        handler.handle(
                                                new HttpWork(request, connection, outbox, null));
                                if (actionOf(response) != StatusAction.COMMIT_AND_STORE) {
                                    throw new Undo(response, false);
                                }
                                if (!outbox.events().isEmpty()) {
                                    once.outbox()
                                            .append(connection, request.tenant(), outbox.events());
                                }
                                return response;
                            });
        } catch (Undo undone) {
            return undone.response();
        } catch (CommandRejectedException no) {
            return rejected(no);
        }
    }

    OnlyOnce once() {
        return once;
    }

    RunOptions options(HttpOperation operation) {
        RunOptions options = once.commands().defaults();
        if (operation.inFlight().isPresent()) {
            options = options.withInFlight(operation.inFlight().get());
        }
        return operation.transaction().isPresent()
                ? options.withTransaction(operation.transaction().get())
                : options;
    }

    StatusAction actionOf(StoredResponse response) {
        return actions.getOrDefault(response.status(), StatusAction.of(response.status()));
    }

    ReplayedHeaders headers() {
        return headers;
    }

    Answers answers() {
        return new Answers(problems);
    }

    StoredResponse rejected(CommandRejectedException no) {
        return rejections.apply(new Rejection(no.code(), no.detail()));
    }
}
