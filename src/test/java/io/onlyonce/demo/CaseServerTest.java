package io.onlyonce.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.Await;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Markers;
import io.onlyonce.ground.Race;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The HTTP contract end to end: this process is the client, the server is another one. */
class CaseServerTest extends DatabaseContract {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String OK = "{\"reason\":\"complete\"}";

    private final AtomicInteger cases = new AtomicInteger(9);
    private final AtomicInteger keys = new AtomicInteger();
    private ChildJvm server;
    private CaseClient client;

    CaseServerTest() {
        super(TestDatabase::postgres);
    }

    @BeforeAll
    void startServer() throws Exception {
        server =
                ChildJvm.start(
                        Serve.class,
                        "port=0",
                        "url=" + db.url(),
                        "user=" + db.user(),
                        "password=" + db.password());
        client = new CaseClient(port(server));
    }

    @AfterAll
    void stopServer() throws Exception {
        if (server != null) {
            server.close();
        }
    }

    private static int port(ChildJvm server) throws InterruptedException {
        String line = server.awaitLine("Listening on ");
        return Integer.parseInt(line.replaceAll("^.*?([0-9]+)(, until.*)?$", "$1"));
    }

    /** A case that no other test has touched; the seeds end at 99, with the full officer's. */
    private String newCase() throws SQLException {
        String id = "NEW-" + Markers.MARK + cases.incrementAndGet();
        db.execute(
                "INSERT INTO case_file VALUES ('acme', '%s', 'OPEN', 1), ('globex', '%s', 'OPEN', 1)"
                        .formatted(id, id));
        return id;
    }

    private String newKey() {
        return "0b7c9a1e-" + Markers.MARK + "-" + keys.incrementAndGet();
    }

    private static String approvals(String caseId) {
        return "/cases/" + caseId + "/approvals";
    }

    private static String escalations(String caseId) {
        return "/cases/" + caseId + "/escalations";
    }

    private static String officers(String caseId) {
        return "/cases/" + caseId + "/primary-officer";
    }

    private static String officer(String id) {
        return "{\"officerId\":\"" + id + "\",\"reason\":\"local\"}";
    }

    private static String escalation(String reason) {
        return "{\"reason\":\"" + reason + "\",\"caseVersion\":1}";
    }

    private long audits(String caseId) throws SQLException {
        return db.count("SELECT count(*) FROM case_audit WHERE case_id = '" + caseId + "'");
    }

    private long events(String caseId) throws SQLException {
        return db.count(
                "SELECT count(*) FROM onlyonce.outbox_event WHERE aggregate_id = '" + caseId + "'");
    }

    private static void assertReplay(HttpResponse<String> replay, HttpResponse<String> first) {
        assertThat(replay.statusCode()).isEqualTo(first.statusCode());
        assertThat(replay.body()).isEqualTo(first.body());
        for (String header : List.of("Location", "Content-Type", "Content-Length")) {
            assertThat(replay.headers().firstValue(header))
                    .isEqualTo(first.headers().firstValue(header));
        }
        assertThat(replay.headers().firstValue("Idempotency-Replayed")).hasValue("true");
        assertThat(first.headers().firstValue("Idempotency-Replayed")).isEmpty();
    }

    private static void assertProblem(HttpResponse<String> response, int status, String code) {
        assertThat(response.body()).contains("\"code\":\"" + code + "\"");
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type"))
                .hasValue("application/problem+json");
    }

    @Test
    void a_request_without_a_good_key_is_refused_and_does_nothing() throws Exception {
        String id = newCase();
        assertProblem(client.postWithoutKey(approvals(id), OK), 400, "MISSING_IDEMPOTENCY_KEY");
        for (String line : List.of("unquoted", "\"open", "\"\"", "\"a\", \"b\"", "42")) {
            assertProblem(
                    client.postHeader(approvals(id), line, OK), 400, "INVALID_IDEMPOTENCY_KEY");
        }
        assertThat(audits(id)).isZero();
    }

    @Test
    void a_retry_gets_the_same_answer_and_has_no_second_effect() throws Exception {
        String id = newCase();
        String key = newKey();
        HttpResponse<String> first = client.post(approvals(id), key, OK);

        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().firstValue("Location")).hasValue(approvals(id) + "/2");
        assertReplay(client.post(approvals(id), key, " {\"reason\" : \"complete\"} "), first);
        assertReplay(client.post(approvals(id), key, OK), first);
        assertThat(audits(id)).isEqualTo(1);
        assertThat(events(id)).isEqualTo(1);
        assertThat(client.get("/cases/" + id).body()).contains("APPROVED", "\"version\":2");
    }

    @Test
    void another_payload_under_the_key_is_refused() throws Exception {
        String id = newCase();
        String key = newKey();
        client.post(escalations(id), key, escalation("overdue"));
        HttpResponse<String> other = client.post(escalations(id), key, escalation("unhappy"));

        assertProblem(other, 422, "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_REQUEST");
        assertThat(other.body()).doesNotContain("overdue", key);
        assertProblem(
                client.post(escalations(newCase()), key, escalation("overdue")),
                422,
                "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_REQUEST");
        assertThat(audits(id)).isEqualTo(1);
    }

    @Test
    void a_key_of_another_tenant_or_caller_never_replays() throws Exception {
        String id = newCase();
        String key = newKey();
        client.post(approvals(id), key, OK);

        HttpResponse<String> mobile = client.as("acme-mobile").post(approvals(id), key, OK);
        HttpResponse<String> globex = client.as("globex-portal").post(approvals(id), key, OK);
        HttpResponse<String> nobody = client.as("stolen").post(approvals(id), key, OK);

        assertProblem(mobile, 409, "CASE_ALREADY_APPROVED");
        assertThat(globex.statusCode()).isEqualTo(201);
        assertThat(nobody.statusCode()).isEqualTo(401);
        assertThat(List.of(mobile, globex, nobody))
                .noneMatch(r -> r.headers().firstValue("Idempotency-Replayed").isPresent());
        assertThat(client.as("acme-mobile").get("/status/case.escalate/" + key).body())
                .contains("NOT_FOUND");
    }

    @Test
    void an_expired_key_is_refused() throws Exception {
        String id = newCase();
        String key = newKey();
        client.post(approvals(id), key, OK);
        db.execute(
                "UPDATE onlyonce.command_dedup SET expires_at = started_at WHERE command_id = '"
                        + key
                        + "'");

        assertProblem(client.post(approvals(id), key, OK), 409, "IDEMPOTENCY_RECORD_EXPIRED");
        assertThat(audits(id)).isEqualTo(1);
    }

    /** While somebody else holds the row of the case, a request about it stays in flight. */
    private final class HeldCase implements AutoCloseable {

        private final Connection connection = db.connect();

        HeldCase(String id) throws SQLException {
            connection.setAutoCommit(false);
            try (var statement = connection.createStatement()) {
                statement.execute("SELECT 1 FROM case_file WHERE id = '" + id + "' FOR UPDATE");
            }
        }

        CompletableFuture<HttpResponse<String>> awaitInFlight(String path, String key, String body)
                throws Exception {
            var first = client.postAsync(path, key, body);
            Await.until(
                    PATIENCE,
                    () ->
                            db.count(
                                            "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                                    + " current_database() AND wait_event_type ="
                                                    + " 'Lock'")
                                    > 0,
                    "the first request waits for the row");
            return first;
        }

        @Override
        public void close() throws SQLException {
            connection.rollback();
            connection.close();
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void a_duplicate_of_a_running_request_is_told_to_come_back() throws Exception {
        String id = newCase();
        String key = newKey();
        CompletableFuture<HttpResponse<String>> first;
        try (var held = new HeldCase(id)) {
            first = held.awaitInFlight(escalations(id), key, escalation("overdue"));
            HttpResponse<String> duplicate =
                    client.post(escalations(id), key, escalation("overdue"));

            assertProblem(duplicate, 409, "IDEMPOTENCY_REQUEST_IN_PROGRESS");
            assertThat(duplicate.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(first).isNotDone();
        }
        assertThat(get(first).statusCode()).isEqualTo(201);
        assertReplay(client.post(escalations(id), key, escalation("overdue")), get(first));
        assertThat(audits(id)).isEqualTo(1);
    }

    @Test
    void a_duplicate_of_a_running_request_gets_the_answer_after_a_short_wait() throws Exception {
        String id = newCase();
        String key = newKey();
        CompletableFuture<HttpResponse<String>> first;
        CompletableFuture<HttpResponse<String>> duplicate;
        try (var held = new HeldCase(id)) {
            first = held.awaitInFlight(approvals(id), key, OK);
            duplicate = client.postAsync(approvals(id), key, OK);
        }
        assertThat(get(first).statusCode()).isEqualTo(201);
        assertReplay(get(duplicate), get(first));
        assertThat(audits(id)).isEqualTo(1);
    }

    @Test
    void a_duplicate_of_a_running_request_is_shown_where_to_ask() throws Exception {
        String id = newCase();
        String key = newKey() + " 100%/?";
        CompletableFuture<HttpResponse<String>> first;
        String location;
        try (var held = new HeldCase(id)) {
            first = held.awaitInFlight(officers(id), key, officer("OFF-1"));
            HttpResponse<String> duplicate = client.post(officers(id), key, officer("OFF-1"));

            assertThat(duplicate.statusCode()).isEqualTo(202);
            location = duplicate.headers().firstValue("Location").orElseThrow();
            assertThat(client.get(location).body()).contains("\"state\":\"IN_FLIGHT\"");
            assertThat(client.as("globex-portal").get(location).body()).contains("NOT_FOUND");
        }
        assertThat(get(first).statusCode()).isEqualTo(201);
        assertThat(client.get(location).body()).contains("\"state\":\"FINAL\"");
        assertReplay(client.post(officers(id), key, officer("OFF-1")), get(first));
    }

    @Test
    void concurrent_duplicates_have_one_effect() throws Exception {
        for (int round = 0; round < 5; round++) {
            String id = newCase();
            String key = newKey();
            List<HttpResponse<String>> responses =
                    Race.of(8, () -> client.post(approvals(id), key, OK));

            assertThat(responses).allMatch(r -> r.statusCode() == 201);
            assertThat(responses)
                    .extracting(HttpResponse::body)
                    .containsOnly(responses.get(0).body());
            assertThat(responses)
                    .filteredOn(r -> r.headers().firstValue("Idempotency-Replayed").isEmpty())
                    .hasSize(1);
            assertThat(audits(id)).isEqualTo(1);
            assertThat(events(id)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {StoppingServe.BEFORE, StoppingServe.AFTER})
    void a_killed_server_leaves_all_or_nothing(String place) throws Exception {
        String id = newCase();
        String key = newKey();
        try (var child =
                ChildJvm.start(StoppingServe.class, db.url(), db.user(), db.password(), place)) {
            new CaseClient(port(child)).postAsync(approvals(id), key, OK);
            child.awaitCheckpoint(place);
            child.kill();
        }
        boolean committed = place.equals(StoppingServe.AFTER);
        assertThat(audits(id)).isEqualTo(committed ? 1 : 0);

        HttpResponse<String> retry = client.post(approvals(id), key, OK);

        assertThat(retry.statusCode()).isEqualTo(201);
        assertThat(retry.headers().firstValue("Location")).hasValue(approvals(id) + "/2");
        assertThat(retry.headers().firstValue("Idempotency-Replayed").isPresent())
                .isEqualTo(committed);
        assertThat(audits(id)).isEqualTo(1);
        assertThat(events(id)).isEqualTo(1);
    }

    @Test
    void a_second_approval_under_another_key_and_a_closed_case_are_conflicts() throws Exception {
        String id = newCase();
        client.post(approvals(id), newKey(), OK);
        String second = newKey();

        HttpResponse<String> conflict = client.post(approvals(id), second, OK);
        assertProblem(conflict, 409, "CASE_ALREADY_APPROVED");
        assertReplay(client.post(approvals(id), second, OK), conflict);
        assertProblem(client.post(approvals("CASE-9"), newKey(), OK), 409, "CASE_CLOSED");
        assertProblem(client.post(approvals("NO-SUCH"), newKey(), OK), 404, "CASE_NOT_FOUND");
        assertThat(audits(id)).isEqualTo(1);
        assertThat(audits("CASE-9")).isZero();
    }

    @Test
    void a_case_has_one_primary_officer() throws Exception {
        String id = newCase();
        assertThat(client.post(officers(id), newKey(), officer("OFF-1")).statusCode())
                .isEqualTo(201);
        assertProblem(
                client.post(officers(id), newKey(), officer("OFF-2")),
                409,
                "CASE_HAS_PRIMARY_OFFICER");
        assertProblem(
                client.post(officers(newCase()), newKey(), officer("OFF-X")),
                422,
                "OFFICER_NOT_FOUND");
        assertThat(audits(id)).isEqualTo(1);
        assertThat(client.get("/cases/" + id).body()).contains("\"primaryOfficer\":\"OFF-1\"");
    }

    @Test
    void a_conflict_of_capacity_is_a_stable_answer() throws Exception {
        String id = newCase();
        String key = newKey();
        HttpResponse<String> full = client.post(officers(id), key, officer("OFF-20"));
        assertProblem(full, 409, "OFFICER_AT_CAPACITY");

        db.execute(
                "UPDATE case_assignment SET active = false"
                        + " WHERE tenant = 'acme' AND case_id = 'CASE-99'");

        HttpResponse<String> again = client.post(officers(id), key, officer("OFF-20"));
        assertThat(again.body()).isEqualTo(full.body());
        assertThat(again.headers().firstValue("Idempotency-Replayed")).hasValue("true");
        assertThat(audits(id)).isZero();

        List<Callable<Integer>> rush = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String other = newCase();
            String otherKey = newKey();
            rush.add(() -> client.post(officers(other), otherKey, officer("OFF-20")).statusCode());
        }
        assertThat(Race.of(rush)).containsOnlyOnce(201).contains(409);
        assertThat(
                        db.count(
                                "SELECT count(*) FROM case_assignment WHERE tenant = 'acme' AND"
                                        + " officer_id = 'OFF-20' AND active"))
                .isEqualTo(20);
    }

    @Test
    void a_version_of_a_case_is_escalated_once() throws Exception {
        String id = newCase();
        assertThat(client.post(escalations(id), newKey(), escalation("overdue")).statusCode())
                .isEqualTo(201);
        String second = newKey();
        HttpResponse<String> conflict = client.post(escalations(id), second, escalation("overdue"));

        assertProblem(conflict, 409, "ALREADY_ESCALATED");
        assertReplay(client.post(escalations(id), second, escalation("overdue")), conflict);
        client.post(approvals(id), newKey(), OK);
        assertProblem(
                client.post(escalations(id), newKey(), escalation("overdue")),
                409,
                "CASE_VERSION_CHANGED");
        assertThat(db.count("SELECT count(*) FROM case_escalation WHERE case_id = '" + id + "'"))
                .isEqualTo(1);
    }

    /**
     * The server holds the case and wants the officer, the other holds the officer and wants it.
     */
    @Test
    void a_deadlock_is_retried_and_has_one_effect() throws Exception {
        String id = newCase();
        String key = newKey();
        CompletableFuture<HttpResponse<String>> response;
        try (var other = db.connect();
                var statement = other.createStatement()) {
            statement.execute("SET deadlock_timeout = '1h'"); // the server is the one to notice it
            other.setAutoCommit(false);
            statement.execute("SELECT 1 FROM officer WHERE id = 'OFF-2' FOR UPDATE");
            response = client.postAsync(officers(id), key, officer("OFF-2"));
            Await.until(
                    PATIENCE,
                    () ->
                            db.count(
                                            "SELECT count(*) FROM pg_stat_activity WHERE datname ="
                                                    + " current_database() AND wait_event_type ="
                                                    + " 'Lock'")
                                    > 0,
                    "the request waits for the officer");
            // It is given only because the request's transaction was the victim.
            statement.execute("SELECT 1 FROM case_file WHERE id = '" + id + "' FOR UPDATE");
            assertThat(response).isNotDone();
            other.rollback();
        }
        assertThat(get(response).statusCode()).isEqualTo(201);
        assertReplay(client.post(officers(id), key, officer("OFF-2")), get(response));
        assertThat(audits(id)).isEqualTo(1);
        assertThat(events(id)).isEqualTo(1);
    }
}
