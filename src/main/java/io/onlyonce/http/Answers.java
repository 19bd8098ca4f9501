package io.onlyonce.http;

import io.onlyonce.command.Command;
import io.onlyonce.command.CommandInFlightException;
import io.onlyonce.command.CommandInfo;
import io.onlyonce.command.KeyBudgetExceededException;
import io.onlyonce.command.Rejection;
import io.onlyonce.payload.InvalidPayloadException;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** What is answered where no handler has the word. */
final class Answers {

    private static final Duration SOON = Duration.ofSeconds(1);

    private final UnaryOperator<ProblemDetails> problems;

    Answers(UnaryOperator<ProblemDetails> problems) {
        this.problems = problems;
    }

    StoredResponse problem(ProblemCode code) {
        return problems.apply(code.details()).toResponse();
    }

    StoredResponse invalidKey(InvalidIdempotencyKeyException e) {
        ProblemCode code =
                e.reason() == InvalidIdempotencyKeyException.Reason.MISSING
                        ? ProblemCode.MISSING_IDEMPOTENCY_KEY
                        : ProblemCode.INVALID_IDEMPOTENCY_KEY;
        return problems.apply(code.details().withDetail(said(e))).toResponse();
    }

    /** Its message says the reason and the place, and quotes nothing. */
    StoredResponse invalidPayload(InvalidPayloadException e) {
        return problems.apply(
                        ProblemCode.INVALID_PAYLOAD
                                .details()
                                .withDetail(said(e))
                                .with("reason", e.reason().name()))
                .toResponse();
    }

    private static String said(RuntimeException e) {
        return Optional.ofNullable(e.getMessage()).orElse("");
    }

    StoredResponse inFlight(CommandInFlightException e) {
        return retryAfter(problem(ProblemCode.IDEMPOTENCY_REQUEST_IN_PROGRESS), e.retryAfter());
    }

    StoredResponse budgetExceeded(KeyBudgetExceededException e) {
        return retryAfter(problem(ProblemCode.IDEMPOTENCY_KEY_BUDGET_EXCEEDED), e.retryAfter());
    }

    /** The duplicate is accepted as what it is: a question about a request that runs. */
    static StoredResponse inFlight(CommandInFlightException e, String location) {
        StoredResponse accepted =
                StoredResponse.of(202)
                        .withHeader("Location", location)
                        .withJson(body(CommandInfo.State.IN_FLIGHT));
        return retryAfter(accepted, e.retryAfter());
    }

    /** The reference is what logs call the command. */
    StoredResponse unknown(Command command, boolean retryable) {
        ProblemDetails details =
                ProblemCode.IDEMPOTENCY_OUTCOME_UNKNOWN
                        .details()
                        .withRetryable(retryable)
                        .with("reference", command.toString());
        if (!retryable) {
            return problems.apply(details).toResponse();
        }
        String detail = "Send it again, unchanged and under the same key: that is safe.";
        return retryAfter(problems.apply(details.withDetail(detail)).toResponse(), SOON);
    }

    static StoredResponse rejected(Rejection rejection) {
        return new ProblemDetails(
                        ProblemDetails.TYPES + "rejected",
                        "The request was rejected",
                        409,
                        rejection.detail(),
                        rejection.code(),
                        false)
                .toResponse();
    }

    static StoredResponse status(CommandInfo.State state) {
        StoredResponse response =
                StoredResponse.of(200)
                        .withHeader("Cache-Control", "no-store")
                        .withJson(body(state));
        return state == CommandInfo.State.IN_FLIGHT ? retryAfter(response, SOON) : response;
    }

    private static String body(CommandInfo.State state) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("state", stateName(state));
        members.put("next", next(state));
        return ProblemDetails.json(members);
    }

    private static String stateName(CommandInfo.State state) {
        return switch (state) {
            case COMPLETED, REJECTED, RESOLVED -> "FINAL";
            case UNRESOLVED -> "OUTCOME_UNKNOWN";
            default -> state.name();
        };
    }

    private static String next(CommandInfo.State state) {
        return switch (state) {
            case IN_FLIGHT -> "Ask here again a little later.";
            case COMPLETED, REJECTED, RESOLVED ->
                    "Send the same request again, under the same key, to get its answer.";
            case NOT_FOUND ->
                    "Nothing is stored under this key. Send the same request again, under the same"
                            + " key.";
            case EXPIRED -> "The answer is no longer kept. Look at the current state.";
            case UNRESOLVED -> "Ask for help; do not send it under another key.";
        };
    }

    private static StoredResponse retryAfter(StoredResponse response, Duration delay) {
        long seconds = Math.max(1, delay.plusMillis(999).toSeconds());
        return response.withHeader("Retry-After", Long.toString(seconds));
    }
}
