package io.onlyonce.http;

import io.onlyonce.command.Command;
import io.onlyonce.command.CommandException;
import io.onlyonce.command.CommandExpiredException;
import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.CommandOutcomeUnknownException;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.KeyBudgetExceededException;
import io.onlyonce.command.Outcome;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.command.Rejection;
import io.onlyonce.command.ResultNotStoredException;
import io.onlyonce.command.ResultTooLargeException;
import io.onlyonce.command.RunOptions;
import io.onlyonce.command.Work;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Optional;

/** One request with a key: a run of its command, and what comes of it as a response. */
final class HttpRun<X extends Exception> {

    private static final Logger log = LoggerFactory.getLogger(HttpRun.class);

    /** Before the status, in the code of rejections whose detail is a response. */
    private static final String RESPONSE = "onlyonce.http.";

    private final HttpIdempotency http;
    private final HttpOperation operation;
    private final RequestParts request;
    private final Command command;
    private final HttpIdempotency.Handler<X> handler;

    /** Of the attempt that ran last, with the headers that are not stored. */
    private @Nullable StoredResponse answered;

    /** By the handler, in the attempt that failed last. */
    private @Nullable Throwable thrown;

    HttpRun(
            HttpIdempotency http,
            HttpOperation operation,
            RequestParts request,
            Command command,
            HttpIdempotency.Handler<X> handler) {
        this.http = http;
        this.operation = operation;
        this.request = request;
        this.command = command;
        this.handler = handler;
    }

    StoredResponse run() throws X, SQLException {
        try {
            return answer();
        } catch (CommandException e) {
            refuseIfThrown(e);
            return refused(e);
        } catch (CommitOutcomeUnknownException e) {
            refuseIfThrown(e);
            return http.answers().unknown(command, true);
        } catch (StoredResultUnreadableException e) {
            refuseIfThrown(e);
            log.error("{}: {}", command, e.getMessage());
            return http.answers().problem(ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);
        }
    }

    /** What the handler threw is the handler's affair, whatever it is. */
    private void refuseIfThrown(RuntimeException e) {
        if (e == thrown) {
            throw e;
        }
    }

    private StoredResponse answer() throws X, SQLException {
        try {
            Outcome<byte[]> outcome =
                    http.once().commands().run(command, byte[].class, options(), this::work);
            return answered != null && !outcome.replayed()
                    ? answered
                    : replayed(StoredResponse.fromBytes(bytes(outcome)));
        } catch (Undo undone) {
            return undone.response();
        } catch (CommandRejectedException no) {
            return rejected(no);
        }
    }

    /** A response that is to be undone leaves as an exception, which is how the runner undoes. */
    private byte[] work(Work work) throws X, SQLException {
        StoredResponse response = handled(work);
        answered = response;
        StatusAction action = http.actionOf(response);
        if (action != StatusAction.COMMIT_AND_STORE) {
            throw new Undo(response, action == StatusAction.UNDO_AND_STORE);
        }
        return http.headers().keptOf(response).toBytes();
    }

    private StoredResponse handled(Work work) throws X, SQLException {
        answered = null;
        try {
            return handler.handle(new HttpWork(request, work.connection(), work.outbox(), command));
        } catch (Throwable e) {
            thrown = e;
            throw e;
        }
    }

    private RunOptions options() {
        RunOptions options = http.options(operation);
        RunOptions.Classifier others = options.classifier();
        return options.withClassifier(
                failure -> failure instanceof Undo undo ? rejection(undo) : others.apply(failure));
    }

    /** Latin-1 gives every byte a character, so that the detail is the response, byte by byte. */
    private Optional<Rejection> rejection(Undo undo) {
        if (!undo.isStored()) {
            return Optional.empty();
        }
        byte[] kept = http.headers().keptOf(undo.response()).toBytes();
        return Optional.of(
                new Rejection(
                        RESPONSE + undo.response().status(),
                        new String(kept, StandardCharsets.ISO_8859_1)));
    }

    private StoredResponse rejected(CommandRejectedException no) {
        if (!no.code().startsWith(RESPONSE)) {
            StoredResponse response = http.rejected(no);
            return no.replayed() ? replayed(response) : response;
        }
        if (answered != null && !no.replayed()) {
            return answered;
        }
        byte[] bytes = no.detail().getBytes(StandardCharsets.ISO_8859_1);
        return replayed(StoredResponse.fromBytes(bytes));
    }

    private StoredResponse refused(CommandException e) {
        if (e instanceof CommandInFlightException inFlight) {
            return operation
                    .statusLocation()
                    .map(where -> where.apply(request, new IdempotencyKey(command.id())))
                    .map(location -> Answers.inFlight(inFlight, location))
                    .orElseGet(() -> http.answers().inFlight(inFlight));
        }
        if (e instanceof KeyBudgetExceededException budget) {
            return http.answers().budgetExceeded(budget);
        }
        if (e instanceof PayloadMismatchException) {
            return http.answers()
                    .problem(ProblemCode.IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_REQUEST);
        }
        if (e instanceof CommandExpiredException) {
            return http.answers().problem(ProblemCode.IDEMPOTENCY_RECORD_EXPIRED);
        }
        if (e instanceof CommandOutcomeUnknownException) {
            return http.answers().unknown(command, false);
        }
        if (e instanceof ResultNotStoredException) {
            return http.answers().problem(ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);
        }
        if (e instanceof ResultTooLargeException) {
            log.error(
                    "the response of {} is too large to be stored: {}", operation, e.getMessage());
            return http.answers().problem(ProblemCode.IDEMPOTENCY_RESULT_TOO_LARGE);
        }
        throw e;
    }

    private static byte[] bytes(Outcome<byte[]> outcome) {
        byte[] bytes = outcome.value();
        if (bytes == null) {
            throw new StoredResultUnreadableException("it is null, not an HTTP response");
        }
        return bytes;
    }

    private static StoredResponse replayed(StoredResponse response) {
        return response.withHeader(HttpIdempotency.REPLAYED_HEADER, "true");
    }
}
