package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.command.Claim;
import io.onlyonce.command.Command;
import io.onlyonce.command.CommandIds;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.CommandScope;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.command.PayloadMismatchException;
import io.onlyonce.command.Rejection;
import io.onlyonce.command.Resolution;
import io.onlyonce.command.RunOptions;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.Race;
import io.onlyonce.outbox.OutboxEvent;
import io.onlyonce.payload.JsonLimits;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.payload.StoredResultUnreadableException;
import io.onlyonce.tx.CommitOutcomeUnknownException;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What the HTTP contract promises on every database. */
abstract class HttpContract extends DatabaseContract {

    static final HttpOperation OPEN =
            HttpOperation.of("case.open", "POST", "/regions/{region}/cases");

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    protected OnlyOnce once;
    protected HttpIdempotency http;
    protected String key;
    private final AtomicInteger runs = new AtomicInteger();

    HttpContract(Opening opening) {
        super(opening);
    }

    @BeforeAll
    void openTables() throws Exception {
        Schema.apply(db.dataSource());
        db.execute("CREATE TABLE effect (id varchar(255) NOT NULL, run int NOT NULL)");
        db.execute("CREATE TABLE taken (id varchar(255) PRIMARY KEY)");
        once =
                OnlyOnce.on(db.pool(16))
                        .withTtl(Duration.ofDays(7))
                        .withDefaults(
                                RunOptions.standard()
                                        .withInFlight(InFlightPolicy.waitUpTo(PATIENCE)))
                        .build();
        http = HttpIdempotency.on(once);
    }

    @BeforeEach
    void newKey() {
        key = Markers.MARK + CommandIds.next();
        runs.set(0);
    }

    RequestParts request(String body) {
        return requestOf("acme", "portal", body);
    }

    RequestParts requestOf(String tenant, String caller, String body) {
        return RequestParts.of(tenant, caller)
                .withKey(List.of('"' + key + '"'))
                .withPath("region", "north")
                .withBody("application/json", body.getBytes(StandardCharsets.UTF_8));
    }

    RequestParts request() {
        return request("{\"subject\":\"fence\"}");
    }

    /** Writes a row and an event, and answers with this status. */
    StoredResponse write(HttpWork work, int status) throws SQLException {
        int run = runs.incrementAndGet();
        execute(work, "INSERT INTO effect VALUES ('" + key + "', " + run + ")");
        work.outbox()
                .append(OutboxEvent.of("opened:" + key, "Case", key, "Opened", new byte[] {1}));
        return StoredResponse.of(status)
                .withHeader("Location", "/cases/" + key)
                .withHeader("Set-Cookie", "session=secret")
                .withHeader("Date", "now")
                .withJson("{\"run\":" + run + ",\"text\":\"\u00fc\\u0000\"}");
    }

    static void execute(HttpWork work, String sql) throws SQLException {
        try (var statement = work.connection().createStatement()) {
            statement.execute(sql);
        }
    }

    StoredResponse send(int status) throws SQLException {
        return http.handle(OPEN, request(), work -> write(work, status));
    }

    long effects() throws SQLException {
        return db.count("SELECT COUNT(*) FROM effect WHERE id = '" + key + "'");
    }

    long events() throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.outbox_event WHERE event_key = 'opened:"
                        + key
                        + "'");
    }

    long rows() throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '" + key + "'");
    }

    static void assertReplay(StoredResponse replay, StoredResponse first) {
        assertThat(replay.status()).isEqualTo(first.status());
        assertThat(replay.body()).isEqualTo(first.body());
        assertThat(replay.isReplayed()).isTrue();
        assertThat(replay.header("Idempotency-Replayed")).hasValue("true");
        assertThat(first.isReplayed()).isFalse();
        assertThat(replay.headers())
                .containsOnlyKeys("Content-Type", "Idempotency-Replayed", "Location");
        assertThat(replay.headers().get("Location")).isEqualTo(first.headers().get("Location"));
    }

    void assertProblem(StoredResponse response, ProblemCode code) {
        assertThat(response.bodyText()).contains("\"code\":\"" + code + "\"").doesNotContain(key);
        assertThat(response.header("Content-Type")).hasValue(ProblemDetails.MEDIA_TYPE);
        assertThat(response.status()).isEqualTo(code.details().status());
        assertThat(response.isReplayed()).isFalse();
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

    @Test
    void a_missing_or_malformed_key_is_refused_before_anything_runs() throws Exception {
        StoredResponse missing =
                http.handle(OPEN, request().withKey(null), work -> write(work, 201));
        StoredResponse malformed =
                http.handle(OPEN, request().withKey(List.of(key)), work -> write(work, 201));
        StoredResponse several =
                http.handle(
                        OPEN,
                        request().withKey(List.of("\"a\"", "\"b\"")),
                        work -> write(work, 201));

        assertProblem(missing, ProblemCode.MISSING_IDEMPOTENCY_KEY);
        assertProblem(malformed, ProblemCode.INVALID_IDEMPOTENCY_KEY);
        assertProblem(several, ProblemCode.INVALID_IDEMPOTENCY_KEY);
        assertThat(several.bodyText()).contains("more than one");
        assertThat(runs).hasValue(0);
    }

    @Test
    void a_body_without_a_single_meaning_is_refused_before_anything_runs() throws Exception {
        StoredResponse response =
                http.handle(OPEN, request("{\"a\":1,\"a\":2}"), work -> write(work, 201));

        assertProblem(response, ProblemCode.INVALID_PAYLOAD);
        assertThat(response.bodyText()).contains("\"reason\":\"DUPLICATE_KEY\"");
        assertThat(runs).hasValue(0);
    }

    @Test
    void json_limits_are_a_setting() throws Exception {
        HttpIdempotency flat = http.withJsonLimits(JsonLimits.DEFAULTS.withDepth(1));

        assertProblem(
                flat.handle(OPEN, request("[[]]"), w -> write(w, 201)),
                ProblemCode.INVALID_PAYLOAD);
        assertThat(http.handle(OPEN, request("[[]]"), w -> write(w, 201)).status()).isEqualTo(201);
    }

    @Test
    void a_request_without_a_value_for_each_variable_is_a_mistake_of_the_server() {
        RequestParts forgotten = RequestParts.of("acme", "portal").withKey(List.of("\"k\""));

        assertThatThrownBy(() -> http.handle(OPEN, forgotten, w -> write(w, 201)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> http.command(OPEN, forgotten))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(runs).hasValue(0);
    }

    @Test
    void the_handler_sees_its_request_and_operators_what_it_is_about() throws Exception {
        http.handle(
                OPEN,
                request().about("Region", "north"),
                work -> {
                    assertThat(work.request().path("region")).isEqualTo("north");
                    assertThat(work.command().orElseThrow().id()).isEqualTo(key);
                    return write(work, 201);
                });
        try (var connection = db.connect()) {
            var info = once.dedup().find(connection, command().scope(), key);
            assertThat(info.resourceType()).hasValue("Region");
            assertThat(info.resourceId()).hasValue("north");
        }
    }

    @Test
    void another_request_under_the_key_is_refused_and_told_nothing() throws Exception {
        send(201);
        for (RequestParts other :
                List.of(
                        request("{\"subject\":\"roof\"}"),
                        request().withPath("region", "south"),
                        request().withQuery("urgent=1"),
                        request().withBody("text/plain", request().body()))) {
            StoredResponse response = http.handle(OPEN, other, work -> write(work, 201));

            assertProblem(response, ProblemCode.IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_REQUEST);
            assertThat(response.headers()).containsOnlyKeys("Content-Type");
            assertThat(response.bodyText()).doesNotContain("run", "fence", "/cases/");
        }
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void another_spelling_of_the_same_json_is_a_replay() throws Exception {
        send(201);
        StoredResponse response =
                http.handle(
                        OPEN, request(" { \"subject\" : \"f\\u0065nce\" } "), w -> write(w, 201));
        assertThat(response.isReplayed()).isTrue();
    }

    @Test
    void a_key_of_another_tenant_caller_or_operation_is_another_key() throws Exception {
        send(201);
        HttpOperation close = HttpOperation.of("case.close", "POST", OPEN.route());

        assertThat(
                        List.of(
                                http.handle(
                                        OPEN,
                                        requestOf("globex", "portal", "{}"),
                                        w -> write(w, 409)),
                                http.handle(
                                        OPEN,
                                        requestOf("acme", "mobile", "{}"),
                                        w -> write(w, 409)),
                                http.handle(close, request("{}"), w -> write(w, 409))))
                .noneMatch(StoredResponse::isReplayed)
                .allMatch(response -> response.status() == 409);
        assertThat(runs).hasValue(4);
    }

    /** Sends the request once more while it runs. */
    StoredResponse duplicateOf(HttpOperation operation) throws Exception {
        var running = new CountDownLatch(1);
        var answered = new CountDownLatch(1);
        var first =
                new FutureTask<>(
                        () ->
                                http.handle(
                                        operation,
                                        request(),
                                        work -> {
                                            running.countDown();
                                            await(answered);
                                            return write(work, 201);
                                        }));
        new Thread(first, "first-caller").start();
        await(running);
        StoredResponse duplicate;
        long start = System.nanoTime();
        try {
            duplicate = http.handle(operation, request(), work -> write(work, 201));
            // the default is to wait for as long as everything here may take
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .isLessThan(PATIENCE.dividedBy(2));
            StoredResponse status = http.status(operation, "acme", "portal", key);
            assertThat(status.bodyText()).contains("IN_FLIGHT");
            assertThat(status.header("Retry-After")).hasValue("1");
        } finally {
            answered.countDown();
        }
        assertThat(first.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).status()).isEqualTo(201);
        assertThat(effects()).isEqualTo(1);
        return duplicate;
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_duplicate_of_a_running_request_may_be_told_to_come_back() throws Exception {
        StoredResponse duplicate = duplicateOf(OPEN.withInFlight(InFlightPolicy.failFast()));

        assertProblem(duplicate, ProblemCode.IDEMPOTENCY_REQUEST_IN_PROGRESS);
        assertThat(duplicate.bodyText()).contains("\"retryable\":true");
        assertThat(duplicate.header("Retry-After")).hasValue("1");
    }

    @Test
    void a_duplicate_of_a_running_request_may_be_shown_where_to_ask() throws Exception {
        HttpOperation operation =
                OPEN.withInFlight(InFlightPolicy.failFast())
                        .withStatusLocation(
                                (request, key) ->
                                        "/status/" + request.tenant() + "/" + key.value());

        assertThat(http.status(operation, "acme", "portal", key).bodyText()).contains("NOT_FOUND");
        StoredResponse duplicate = duplicateOf(operation);

        assertThat(duplicate.status()).isEqualTo(202);
        assertThat(duplicate.header("Location")).hasValue("/status/acme/" + key);
        assertThat(duplicate.header("Retry-After")).hasValue("1");
        StoredResponse status = http.status(operation, "acme", "portal", key);
        assertThat(status.status()).isEqualTo(200);
        assertThat(status.header("Retry-After")).isEmpty();
        assertThat(status.bodyText()).contains("\"state\":\"FINAL\"", "Send the same request");
        assertThat(http.status(operation, "globex", "portal", key).bodyText())
                .contains("NOT_FOUND");
        assertThat(http.status(operation, "acme", "portal", "\u00fc").bodyText())
                .contains("NOT_FOUND");
        assertThat(http.handle(operation, request(), w -> write(w, 201)).isReplayed()).isTrue();
    }

    @Test
    @Tag("repeated")
    void concurrent_duplicates_have_one_effect_and_one_answer() throws Exception {
        for (int round = 0; round < 10; round++) {
            newKey();
            int status = round % 2 == 0 ? 201 : 409;
            List<StoredResponse> responses = Race.of(8, () -> send(status));

            assertThat(responses).filteredOn(r -> !r.isReplayed()).hasSize(1);
            assertThat(responses)
                    .extracting(StoredResponse::bodyText)
                    .containsOnly(responses.get(0).bodyText());
            assertThat(runs).hasValue(1);
            assertThat(effects()).isEqualTo(status == 201 ? 1 : 0);
            assertThat(rows()).isEqualTo(1);
        }
    }

    @Test
    void an_expired_key_is_refused() throws Exception {
        send(201);
        db.execute(
                "UPDATE onlyonce.command_dedup SET expires_at = started_at"
                        + " WHERE command_id = '"
                        + key
                        + "'");

        StoredResponse response = send(201);

        assertProblem(response, ProblemCode.IDEMPOTENCY_RECORD_EXPIRED);
        assertThat(http.status(OPEN, "acme", "portal", key).bodyText()).contains("EXPIRED");
        assertThat(effects()).isEqualTo(1);
    }

    @Test
    void each_operation_has_its_own_time_to_live() throws Exception {
        http.handle(OPEN.withTtl(Duration.ofHours(2)), request(), w -> write(w, 201));
        assertThat(lifetimes(Duration.ofHours(2))).isEqualTo(1);
        newKey();
        http.handle(OPEN, request(), w -> write(w, 201));
        assertThat(lifetimes(Duration.ofDays(7))).isEqualTo(1);
        newKey();
        http.handle(OPEN.withoutExpiry(), request(), w -> write(w, 201));
        try (var connection = db.connect()) {
            assertThat(once.dedup().find(connection, command().scope(), key).expiresAt()).isEmpty();
        }
    }

    private long lifetimes(Duration ttl) throws SQLException {
        return db.count(
                "SELECT COUNT(*) FROM onlyonce.command_dedup WHERE command_id = '%s' AND expires_at = started_at + INTERVAL '%d' SECOND"
                        .formatted(key, ttl.toSeconds()));
    }

    /** Its claim is committed on the low road and never completed. */
    private void leaveUnresolved() throws SQLException {
        try (var connection = db.connect()) {
            connection.setAutoCommit(false);
            assertThat(once.dedup().tryStart(connection, command()))
                    .isInstanceOf(Claim.Started.class);
            connection.commit();
        }
    }

    private Command command() {
        return http.command(OPEN, request());
    }

    private void resolve(Resolution resolution) throws SQLException {
        try (var connection = db.connect()) {
            connection.setAutoCommit(false);
            once.dedup().resolve(connection, command().scope(), key, resolution, "ann", "looked");
            connection.commit();
        }
    }

    @Test
    void an_unknown_outcome_has_a_reference_that_hides_the_key() throws Exception {
        leaveUnresolved();
        StoredResponse response = send(201);

        assertProblem(response, ProblemCode.IDEMPOTENCY_OUTCOME_UNKNOWN);
        assertThat(response.bodyText())
                .contains("\"reference\":\"" + command() + "\"", "\"retryable\":false");
        assertThat(http.status(OPEN, "acme", "portal", key).bodyText()).contains("OUTCOME_UNKNOWN");
        assertThat(runs).hasValue(0);
    }

    @Test
    void an_operator_settles_it_with_a_response_or_without() throws Exception {
        leaveUnresolved();
        var found = StoredResponse.of(201).withHeader("Location", "/cases/7").withJson("{}");
        resolve(Resolution.completed(found.toBytes()));
        assertReplay(send(201), found);

        newKey();
        leaveUnresolved();
        resolve(Resolution.completedWithoutResult());
        assertProblem(send(201), ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);

        newKey();
        leaveUnresolved();
        resolve(Resolution.completed("no response at all"));
        assertProblem(send(201), ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);

        newKey();
        leaveUnresolved();
        resolve(Resolution.completed("secret".getBytes(StandardCharsets.UTF_8)));
        StoredResponse response = send(201);
        assertProblem(response, ProblemCode.IDEMPOTENCY_RESULT_NOT_STORED);
        assertThat(response.bodyText()).doesNotContain("secret");
        assertThat(runs).hasValue(0);
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
