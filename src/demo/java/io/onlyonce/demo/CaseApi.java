package io.onlyonce.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

import io.onlyonce.command.Command;
import io.onlyonce.command.CommandRejectedException;
import io.onlyonce.command.InFlightPolicy;
import io.onlyonce.http.HttpOperation;
import io.onlyonce.http.HttpWork;
import io.onlyonce.http.ProblemDetails;
import io.onlyonce.http.StoredResponse;
import io.onlyonce.outbox.OutboxEvent;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What can be done with cases. Each handler is plain JDBC on the connection it is given; what it
 * writes is kept or undone by the status it returns.
 */
final class CaseApi {

    /** A double click waits for the first one and gets its answer. */
    static final HttpOperation APPROVE =
            HttpOperation.of("case.approve", "POST", "/cases/{caseId}/approvals")
                    .withTtl(Duration.ofDays(30))
                    .withInFlight(InFlightPolicy.waitUpTo(Duration.ofSeconds(2)));

    /** A duplicate is shown where to ask. */
    static final HttpOperation ASSIGN =
            HttpOperation.of(
                            "case.assign-primary-officer",
                            "POST",
                            "/cases/{caseId}/primary-officer")
                    .withInFlight(InFlightPolicy.failFast())
                    .withStatusLocation(
                            (request, key) ->
                                    "/status/case.assign-primary-officer/"
                                            + URLEncoder.encode(key.value(), StandardCharsets.UTF_8)
                                                    .replace("+", "%20"));

    /** A duplicate is told to come back. */
    static final HttpOperation ESCALATE =
            HttpOperation.of("case.escalate", "POST", "/cases/{caseId}/escalations")
                    .withInFlight(InFlightPolicy.failFast());

    static final List<HttpOperation> ALL = List.of(APPROVE, ASSIGN, ESCALATE);

    private static final int CAPACITY = 20;
    private static final String UNIQUE_VIOLATION = "23505";
    private static final ObjectMapper JSON = new ObjectMapper();

    private record CaseRow(String status, long version) {}

    private CaseApi() {}

    static StoredResponse handle(HttpOperation operation, HttpWork work) throws SQLException {
        Optional<JsonNode> body = object(work.request().body());
        String reason = body.map(b -> b.path("reason").asText("")).orElse("");
        if (body.isEmpty() || reason.isBlank() || reason.length() > 500 || reason.indexOf(0) >= 0) {
            return problem(400, "INVALID_REQUEST", "Say a reason of 1 to 500 characters, in JSON.");
        }
        Optional<CaseRow> found = lockCase(work);
        if (found.isEmpty()) {
            return problem(404, "CASE_NOT_FOUND", "There is no such case.");
        }
        CaseRow row = found.get();
        if (row.status.equals("CLOSED")) {
            return problem(409, "CASE_CLOSED", "The case is closed.");
        }
        if (operation == APPROVE) {
            return approve(work, row, reason);
        }
        return operation == ASSIGN
                ? assign(work, row, body.get().path("officerId").asText(""), reason)
                : escalate(work, row, body.get().path("caseVersion").asLong(-1), reason);
    }

    private static StoredResponse approve(HttpWork work, CaseRow row, String reason)
            throws SQLException {
        if (row.status.equals("APPROVED")) {
            return problem(409, "CASE_ALREADY_APPROVED", "Somebody has approved the case.");
        }
        long version = row.version + 1;
        moveOn(work, "APPROVED", version);
        audit(work, "APPROVE_CASE", reason);
        tell(work, "CaseApproved", "case-approved", version);
        return created(work, "approvals", version, "status", "APPROVED");
    }

    private static StoredResponse assign(HttpWork work, CaseRow row, String officer, String reason)
            throws SQLException {
        if (!isId(officer) || !lockOfficer(work, officer)) {
            return problem(422, "OFFICER_NOT_FOUND", "There is no such officer.");
        }
        // The officer's row is locked, so nobody else can take the last place meanwhile.
        if (activeCases(work, officer) >= CAPACITY) {
            throw new CommandRejectedException(
                    "OFFICER_AT_CAPACITY", "The officer has " + CAPACITY + " cases already.");
        }
        long version = row.version + 1;
        try {
            update(
                    work.connection(),
                    "INSERT INTO case_assignment VALUES (?, ?, ?, ?)",
                    work.request().tenant(),
                    caseId(work),
                    version,
                    officer);
        } catch (SQLException e) {
            return conflictOr(e, "CASE_HAS_PRIMARY_OFFICER", "The case has a primary officer.");
        }
        moveOn(work, row.status, version);
        audit(work, "ASSIGN_PRIMARY_OFFICER", reason);
        tell(work, "PrimaryOfficerAssigned", "primary-officer-assigned", version);
        return created(work, "assignments", version, "officerId", officer);
    }

    private static StoredResponse escalate(HttpWork work, CaseRow row, long version, String reason)
            throws SQLException {
        if (version != row.version) {
            return problem(409, "CASE_VERSION_CHANGED", "The case is at another version now.");
        }
        try {
            update(
                    work.connection(),
                    "INSERT INTO case_escalation VALUES (?, ?, ?, ?)",
                    work.request().tenant(),
                    caseId(work),
                    version,
                    reason);
        } catch (SQLException e) {
            return conflictOr(e, "ALREADY_ESCALATED", "This version of the case was escalated.");
        }
        audit(work, "ESCALATE_CASE", reason);
        tell(work, "CaseEscalated", "case-escalated", version);
        return created(work, "escalations", version, "reason", reason);
    }

    /** The constraint decides, whoever came first. */
    private static StoredResponse conflictOr(SQLException e, String code, String detail)
            throws SQLException {
        if (!UNIQUE_VIOLATION.equals(e.getSQLState())) {
            throw e;
        }
        return problem(409, code, detail);
    }

    static StoredResponse show(Connection connection, String tenant, String caseId)
            throws SQLException {
        try (var statement =
                connection.prepareStatement(
                        """
                        SELECT c.status, c.version, a.officer_id,
                               (SELECT count(*) FROM case_audit l WHERE l.tenant = c.tenant AND l.case_id = c.id) AS audits
                        FROM case_file c
                        LEFT JOIN case_assignment a ON a.tenant = c.tenant AND a.case_id = c.id AND a.active
                        WHERE c.tenant = ? AND c.id = ?
                        """)) {
            statement.setString(1, tenant);
            statement.setString(2, caseId);
            try (var row = statement.executeQuery()) {
                if (!row.next()) {
                    return problem(404, "CASE_NOT_FOUND", "There is no such case.");
                }
                ObjectNode json = JsonNodeFactory.instance.objectNode();
                json.put("caseId", caseId);
                json.put("status", row.getString("status"));
                json.put("version", row.getLong("version"));
                json.put("primaryOfficer", row.getString("officer_id"));
                json.put("auditRows", row.getLong("audits"));
                return StoredResponse.of(200).withJson(json.toString());
            }
        }
    }

    /** Ids that may be asked for; others cannot exist. */
    static boolean isId(String text) {
        return text.matches("[A-Za-z0-9-]{1,40}");
    }

    static StoredResponse problem(int status, String code, String detail) {
        return new ProblemDetails(
                        "urn:example:case-management:" + code,
                        "The case management says no",
                        status,
                        detail,
                        code,
                        status == 503)
                .toResponse();
    }

    private static Optional<JsonNode> object(byte[] body) {
        try {
            return Optional.ofNullable(JSON.readTree(body)).filter(JsonNode::isObject);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static String caseId(HttpWork work) {
        return work.request().path("caseId");
    }

    private static Optional<CaseRow> lockCase(HttpWork work) throws SQLException {
        try (var statement =
                prepare(
                        work.connection(),
                        "SELECT status, version FROM case_file WHERE tenant = ? AND id = ? FOR"
                                + " UPDATE",
                        work.request().tenant(),
                        caseId(work))) {
            try (var row = statement.executeQuery()) {
                return row.next()
                        ? Optional.of(new CaseRow(row.getString("status"), row.getLong("version")))
                        : Optional.empty();
            }
        }
    }

    private static boolean lockOfficer(HttpWork work, String officer) throws SQLException {
        try (var statement =
                        prepare(
                                work.connection(),
                                "SELECT 1 FROM officer WHERE tenant = ? AND id = ? FOR UPDATE",
                                work.request().tenant(),
                                officer);
                var row = statement.executeQuery()) {
            return row.next();
        }
    }

    private static long activeCases(HttpWork work, String officer) throws SQLException {
        try (var statement =
                        prepare(
                                work.connection(),
                                "SELECT count(*) FROM case_assignment WHERE tenant = ? AND"
                                        + " officer_id = ? AND active",
                                work.request().tenant(),
                                officer);
                var row = statement.executeQuery()) {
            row.next();
            return row.getLong(1);
        }
    }

    private static void moveOn(HttpWork work, String status, long version) throws SQLException {
        update(
                work.connection(),
                "UPDATE case_file SET status = ?, version = ? WHERE tenant = ? AND id = ?",
                status,
                version,
                work.request().tenant(),
                caseId(work));
    }

    /** Unique by command and action, should anything ever run twice. */
    private static void audit(HttpWork work, String action, String reason) throws SQLException {
        update(
                work.connection(),
                "INSERT INTO case_audit VALUES (?, ?, ?, ?, ?, ?)",
                work.request().tenant(),
                work.request().caller(),
                work.command().map(Command::id).orElseThrow(),
                action,
                caseId(work),
                reason);
    }

    /** The key names the fact, so that one fact is one event whoever tells it. */
    private static void tell(HttpWork work, String type, String fact, long version) {
        ObjectNode payload = JsonNodeFactory.instance.objectNode();
        payload.put("caseId", caseId(work)).put("version", version);
        work.outbox()
                .append(
                        OutboxEvent.of(
                                        fact + ":" + caseId(work) + ":" + version,
                                        "CaseFile",
                                        caseId(work),
                                        type,
                                        payload.toString().getBytes(StandardCharsets.UTF_8))
                                .withVersion(version));
    }

    private static StoredResponse created(
            HttpWork work, String what, long version, String name, String value) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("caseId", caseId(work)).put("version", version).put(name, value);
        return StoredResponse.of(201)
                .withHeader("Location", "/cases/" + caseId(work) + "/" + what + "/" + version)
                .withJson(json.toString());
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... values)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private static void update(Connection connection, String sql, Object... values)
            throws SQLException {
        try (var statement = prepare(connection, sql, values)) {
            statement.executeUpdate();
        }
    }
}
