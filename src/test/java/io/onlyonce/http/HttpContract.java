package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.command.Rejection;
import io.onlyonce.command.RunOptions;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What the HTTP contract promises on every database. */
abstract class HttpContract extends HttpGround {

    HttpContract(Opening opening) {
        super(opening);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 204, 303})
    void success_is_committed_and_replayed_byte_by_byte(int status) throws Exception {
        StoredResponse first = send(status);
        StoredResponse second = send(status);

        assertThat(first.headers()).containsKeys("Set-Cookie", "Date", "Location");
        assertReplay(second, first);
        assertReplay(send(status), first);
        assertThat(runs).hasValue(1);
        assertThat(effects()).isEqualTo(1);
        assertThat(events()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 404, 409, 410, 422})
    void a_no_leaves_nothing_but_the_stored_answer(int status) throws Exception {
        StoredResponse first = send(status);
        StoredResponse second = send(status);

        assertThat(first.headers()).containsKeys("Set-Cookie");
        assertReplay(second, first);
        assertThat(runs).hasValue(1);
        assertThat(effects()).isZero();
        assertThat(events()).isZero();
        assertThat(rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 408, 425, 429, 500, 502, 503})
    void a_failure_leaves_nothing_at_all_and_the_key_is_free(int status) throws Exception {
        StoredResponse first = send(status);

        assertThat(first.status()).isEqualTo(status);
        assertThat(first.bodyText()).contains("\"run\":1");
        assertThat(first.headers()).containsKeys("Set-Cookie");
        assertThat(effects()).isZero();
        assertThat(events()).isZero();
        assertThat(rows()).isZero();

        assertThat(send(201).isReplayed()).isFalse();
        assertThat(runs).hasValue(2);
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void any_byte_may_be_in_the_body_of_a_stored_no() throws Exception {
        byte[] body = new byte[256];
        for (int i = 0; i < body.length; i++) {
            body[i] = (byte) i;
        }
        for (int i = 0; i < 2; i++) {
            StoredResponse response =
                    http.handle(OPEN, request(), work -> StoredResponse.of(409).withBody(body));
            assertThat(response.body()).isEqualTo(body);
            assertThat(response.isReplayed()).isEqualTo(i == 1);
        }
    }

    @Test
    void a_violated_constraint_may_be_answered_with_a_stored_no() throws Exception {
        db.execute("INSERT INTO taken VALUES ('" + key + "')");
        HttpIdempotency.Handler<RuntimeException> handler =
                work -> {
                    write(work, 201);
                    try {
                        execute(work, "INSERT INTO taken VALUES ('" + key + "')");
                        return StoredResponse.of(201);
                    } catch (SQLException e) {
                        return StoredResponse.of(409).withJson("{}");
                    }
                };
        assertThat(http.handle(OPEN, request(), handler).status()).isEqualTo(409);
        db.execute("DELETE FROM taken WHERE id = '" + key + "'");

        assertThat(http.handle(OPEN, request(), handler).isReplayed()).isTrue();
        assertThat(effects()).isZero();
    }

    @Test
    void exceptions_of_the_handler_pass_and_leave_nothing() throws Exception {
        assertThatThrownBy(
                        () ->
                                http.handle(
                                        OPEN,
                                        request(),
                                        work -> {
                                            write(work, 201);
                                            throw new IOException("disk");
                                        }))
                .isInstanceOf(IOException.class);
        assertThat(rows() + effects()).isZero();
        assertThat(send(201).isReplayed()).isFalse();
    }

    /** They look like ours, but are about something else that the handler did. */
    @Test
    void our_own_exceptions_thrown_by_the_handler_pass_too() throws Exception {
        assertThatThrownBy(
                        () ->
                                http.handle(
                                        OPEN,
                                        request(),
                                        work -> {
                                            throw new StoredResultUnreadableException("nested");
                                        }))
                .isInstanceOf(StoredResultUnreadableException.class);
        assertThat(rows()).isZero();

        CommandScope scope = new CommandScope("acme", "portal", "nested");
        Command nested = Command.of(scope, key, PayloadHash.ofJson("1"));
        once.commands().run(nested, String.class, work -> "done");
        assertThatThrownBy(
                        () ->
                                http.handle(
                                        OPEN,
                                        request(),
                                        work -> {
                                            once.commands()
                                                    .run(
                                                            Command.of(
                                                                    scope,
                                                                    key,
                                                                    PayloadHash.ofJson("2")),
                                                            String.class,
                                                            w -> "never");
                                            return StoredResponse.of(200);
                                        }))
                .isInstanceOf(PayloadMismatchException.class);
        assertThatThrownBy(
                        () ->
                                http.handle(
                                        OPEN,
                                        request(),
                                        work -> {
                                            throw new CommitOutcomeUnknownException(
                                                    new IOException("nested"));
                                        }))
                .isInstanceOf(CommitOutcomeUnknownException.class);
    }

    @Test
    void a_rejection_is_stored_and_answered_as_a_conflict() throws Exception {
        HttpIdempotency.Handler<RuntimeException> handler =
                work -> {
                    write(work, 201);
                    throw new CommandRejectedException("CASE_CLOSED", "the case is closed");
                };
        StoredResponse first = http.handle(OPEN, request(), handler);
        StoredResponse second = http.handle(OPEN, request(), handler);

        assertThat(first.status()).isEqualTo(409);
        assertThat(first.bodyText())
                .contains("\"code\":\"CASE_CLOSED\"", "the case is closed", "\"retryable\":false");
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(second.isReplayed()).isTrue();
        assertThat(runs).hasValue(1);
        assertThat(effects()).isZero();

        HttpIdempotency teapot =
                http.withRejections(r -> StoredResponse.of(418).withBody("text/plain", r.code()));
        assertThat(teapot.handle(OPEN, request(), handler).bodyText()).isEqualTo("CASE_CLOSED");
    }

    @Test
    void the_users_classifier_still_classifies_and_never_sees_a_response() throws Exception {
        var greedy =
                OnlyOnce.on(db.pool(2))
                        .withTtl(Duration.ofDays(1))
                        .withDefaults(
                                RunOptions.standard()
                                        .withClassifier(e -> Optional.of(new Rejection("ANY", ""))))
                        .build();
        HttpIdempotency own = HttpIdempotency.on(greedy);

        assertThat(own.handle(OPEN, request(), work -> write(work, 503)).status()).isEqualTo(503);
        assertThat(rows()).isZero();
        assertThat(own.handle(OPEN, request(), work -> write(work, 422)).status()).isEqualTo(422);
        newKey();
        StoredResponse no =
                own.handle(
                        OPEN,
                        request(),
                        work -> {
                            throw new IllegalStateException();
                        });
        assertThat(no.bodyText()).contains("\"code\":\"ANY\"");
    }

    @Test
    void without_stored_rejections_there_is_no_http_contract() throws Exception {
        var without =
                OnlyOnce.on(db.pool(1))
                        .withTtl(Duration.ofDays(1))
                        .withDefaults(RunOptions.standard().withoutRejections())
                        .build();
        assertThatThrownBy(() -> HttpIdempotency.on(without))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("withoutRejections");
    }

    @ParameterizedTest
    @ValueSource(ints = {201, 409})
    void a_response_that_is_too_large_leaves_nothing(int status) throws Exception {
        StoredResponse response =
                http.handle(
                        OPEN,
                        request(),
                        work -> write(work, status).withBody(new byte[(1 << 20) + 1]));

        assertProblem(response, ProblemCode.IDEMPOTENCY_RESULT_TOO_LARGE);
        assertThat(effects() + rows() + events()).isZero();
    }

    @Test
    void an_optional_key_protects_where_it_is_sent_and_only_there() throws Exception {
        HttpOperation optional = OPEN.withOptionalKey();
        for (int i = 0; i < 2; i++) {
            StoredResponse response =
                    http.handle(
                            optional,
                            request().withKey(List.of()),
                            work -> {
                                assertThat(work.command()).isEmpty();
                                return write(work, 201);
                            });
            assertThat(response.isReplayed()).isFalse();
        }
        assertThat(effects()).isEqualTo(2);
        assertThat(events()).isEqualTo(1);
        assertThat(rows()).isZero();

        for (int i = 0; i < 2; i++) {
            http.handle(optional, request(), work -> write(work, 201));
        }
        assertThat(effects()).isEqualTo(3);
        assertProblem(
                http.handle(optional, request().withKey(List.of("")), work -> write(work, 201)),
                ProblemCode.INVALID_IDEMPOTENCY_KEY);
    }

    @ParameterizedTest
    @ValueSource(ints = {409, 503})
    void without_a_key_a_failure_leaves_nothing_either(int status) throws Exception {
        RequestParts keyless = request().withKey(null);
        StoredResponse response =
                http.handle(OPEN.withOptionalKey(), keyless, work -> write(work, status));
        StoredResponse rejected =
                http.handle(
                        OPEN.withOptionalKey(),
                        keyless,
                        work -> {
                            write(work, 201);
                            throw new CommandRejectedException("NO", "no");
                        });

        assertThat(response.status()).isEqualTo(status);
        assertThat(rejected.bodyText()).contains("\"code\":\"NO\"");
        assertThat(effects() + events() + rows()).isZero();
    }

    @Test
    void the_tables_are_overridable() throws Exception {
        HttpIdempotency own =
                http.withAction(409, StatusAction.UNDO_AND_FORGET)
                        .withAction(500, StatusAction.UNDO_AND_STORE)
                        .withReplayedHeader("X-Total")
                        .withKeys(KeyFormat.lenient())
                        .withProblems(
                                p ->
                                        p.withType("https://api.example.com/" + p.code())
                                                .withTitle("Nein")
                                                .withStatus(418));

        own.handle(OPEN, request(), work -> write(work, 409));
        assertThat(rows()).isZero();
        RequestParts unquoted = request().withKey(List.of(key));
        own.handle(OPEN, unquoted, work -> write(work, 500).withHeader("X-Total", "3"));
        StoredResponse replay = own.handle(OPEN, request(), work -> write(work, 500));
        assertThat(replay.isReplayed()).isTrue();
        assertThat(replay.status()).isEqualTo(500);
        assertThat(replay.header("X-Total")).hasValue("3");
        StoredResponse refused = own.handle(OPEN, request("{}"), work -> write(work, 201));
        assertThat(refused.status()).isEqualTo(418);
        assertThat(refused.bodyText())
                .contains("https://api.example.com/IDEMPOTENCY_KEY_REUSED", "Nein");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"set-cookie", "Authorization", "DATE", "Connection", "Idempotency-Replayed"})
    void some_headers_are_never_replayed(String name) {
        assertThatThrownBy(() -> http.withReplayedHeader(name))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
