package docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.http.*;
import io.onlyonce.outbox.*;
import java.io.*;
import java.security.Principal;
import java.sql.*;
import java.util.*;
import java.util.function.Consumer;

/** Spring, Javalin and servlets are stood in for by the few methods that the snippets call. */
public class http extends Harness {

    record Approval(String path, String json, OutboxEvent event) {}

    static class Cases {
        Approval approve(Connection connection, String caseId) throws SQLException {
            update(connection, "INSERT INTO approval (case_id) VALUES (?)", caseId);
            return new Approval(
                    "/cases/" + caseId + "/approvals/1",
                    "{\"approved\": true}",
                    OutboxEvent.of("approved:" + caseId, "CaseFile", caseId, "CaseApproved", bytes("{}")));
        }

        StoredResponse approve(HttpWork work, String caseId) throws SQLException {
            Approval approval = approve(work.connection(), caseId);
            return StoredResponse.of(201).withHeader("Location", approval.path()).withJson(approval.json());
        }
    }

    private final Cases cases = new Cases();

    private long approvals(String caseId) throws SQLException {
        return db.count("SELECT count(*) FROM approval WHERE case_id = '" + caseId + "'");
    }

    private void tables() throws SQLException {
        db.execute("CREATE TABLE IF NOT EXISTS approval (case_id text)");
    }

    public void an_endpoint() throws Exception {
        tables();
        StoredResponse first = called("{\"a\": 1, \"b\": 2}");
        StoredResponse again = called("{\"b\": 2, \"a\": 1}");
        StoredResponse other = called("{\"a\": 2}");
        assertThat(first.status()).isEqualTo(201);
        assertThat(again.bodyText()).isEqualTo(first.bodyText());
        assertThat(again.isReplayed()).isTrue();
        assertThat(other.status()).isEqualTo(422);
        assertThat(approvals("7")).isEqualTo(1);
    }

    private StoredResponse called(String body) throws Exception {
        Map<String, List<String>> headers = Map.of("Idempotency-Key", List.of("\"k-1\""));
        String tenant = "acme", caller = "ui", caseId = "7", rawQuery = "", contentType = "application/json";
        byte[] bytes = bytes(body);
        //> HTTP
        return response;
    }

    interface FilterChain {
        void doFilter(Object request, Recorder recorder) throws Exception;
    }

    record Recorder(List<String> responses) {
        String response() {
            return responses.get(0);
        }
    }

    interface Store {
        void save(String key, String response);
    }

    /** A crash between the two commits: the retry is carried out again. */
    public void a_filter_that_stores_the_response_afterwards() throws Exception {
        int[] effects = {0};
        FilterChain chain = (request, recorder) -> {
            effects[0]++;
            recorder.responses().add("201");
        };
        Store killed = (key, response) -> {
            throw new IllegalStateException("killed here");
        };
        for (int attempt = 0; attempt < 2; attempt++) {
            try {
                filter(chain, killed);
            } catch (IllegalStateException e) {
                // the client tries again
            }
        }
        assertThat(effects[0]).isEqualTo(2);
    }

    private void filter(FilterChain chain, Store store) throws Exception {
        Object request = new Object();
        String key = "k-1";
        var recorder = new Recorder(new ArrayList<>());
        //> Why not a filter that stores the response afterwards
    }

    // What stands in for frameworks.

    @interface PostMapping {
        String value();
    }

    @interface PathVariable {}

    @interface RequestHeader {}

    @interface RequestBody {
        boolean required();
    }

    static class HttpHeaders extends HashMap<String, List<String>> {
        String getFirst(String name) {
            return containsKey(name) ? get(name).get(0) : null;
        }

        void addAll(String name, List<String> values) {
            put(name, values);
        }
    }

    record ResponseEntity<T>(int code, HttpHeaders sent, T content) {
        static ResponseEntity<byte[]> status(int code) {
            return new ResponseEntity<>(code, null, null);
        }

        ResponseEntity<byte[]> headers(HttpHeaders sent) {
            return new ResponseEntity<>(code, sent, null);
        }

        ResponseEntity<byte[]> body(byte[] content) {
            return new ResponseEntity<>(code, sent, content);
        }
    }

    record HttpServletRequest(String user, String key, byte[] bytes) {
        String getQueryString() {
            return null;
        }

        String getContentType() {
            return "application/json";
        }

        String getRemoteUser() {
            return user;
        }

        Enumeration<String> getHeaders(String name) {
            return Collections.enumeration(List.of(key));
        }

        InputStream getInputStream() {
            return new ByteArrayInputStream(bytes);
        }
    }

    static class HttpServletResponse {
        int status;
        final Map<String, String> headers = new HashMap<>();
        final ByteArrayOutputStream body = new ByteArrayOutputStream();

        void setStatus(int status) {
            this.status = status;
        }

        void addHeader(String name, String value) {
            headers.put(name, value);
        }

        OutputStream getOutputStream() {
            return body;
        }
    }

    static class ServletException extends Exception {
        ServletException(Throwable cause) {
            super(cause);
        }
    }

    static class App {
        Handler handler;

        interface Handler {
            void handle(Context ctx) throws Exception;
        }

        void post(String route, Handler handler) {
            this.handler = handler;
        }
    }

    record Context(HttpServletRequest req, HttpServletResponse res) {
        String pathParam(String name) {
            return "10";
        }

        String queryString() {
            return null;
        }

        String contentType() {
            return req.getContentType();
        }

        byte[] bodyAsBytes() {
            return req.bytes();
        }

        Context status(int status) {
            res.setStatus(status);
            return this;
        }

        void result(byte[] body) throws IOException {
            res.body.write(body);
        }
    }

    private static final HttpOperation APPROVE = HttpOperation.of("case.approve", "POST", "/cases/{caseId}/approvals");

    private HttpIdempotency http;

    private static String tenantOf(Principal user) {
        return "acme";
    }

    private static String tenant(Object request) {
        return "acme";
    }

    private static String caller(Object request) {
        return "ui";
    }

    private static String caseId(HttpServletRequest request) {
        return "9";
    }

    //> Wiring it in

    private void javalin(App app) {
        //> Wiring it in (2)
    }

    //> Wiring it in (3)

    public void spring() throws Exception {
        tables();
        http = HttpIdempotency.on(once);
        var headers = new HttpHeaders();
        headers.put("Idempotency-Key", List.of("\"spring-1\""));
        var raw = new HttpServletRequest("ui", "", new byte[0]);
        approve("8", headers, null, raw, () -> "ui");
        ResponseEntity<byte[]> again = approve("8", headers, null, raw, () -> "ui");
        assertThat(again.code()).isEqualTo(201);
        assertThat(again.sent()).containsKeys("Location", "Idempotency-Replayed");
        assertThat(approvals("8")).isEqualTo(1);
    }

    public void servlet() throws Exception {
        tables();
        http = HttpIdempotency.on(once);
        var request = new HttpServletRequest("ui", "\"servlet-1\"", bytes("{}"));
        doPost(request, new HttpServletResponse());
        var again = new HttpServletResponse();
        doPost(request, again);
        assertThat(again.status).isEqualTo(201);
        assertThat(again.body.toString()).isEqualTo("{\"approved\": true}");
        assertThat(approvals("9")).isEqualTo(1);
    }

    public void javalin() throws Exception {
        tables();
        http = HttpIdempotency.on(once);
        var app = new App();
        javalin(app);
        var request = new HttpServletRequest("ui", "\"javalin-1\"", bytes("{}"));
        app.handler.handle(new Context(request, new HttpServletResponse()));
        var again = new HttpServletResponse();
        app.handler.handle(new Context(request, again));
        assertThat(again.headers).containsKey("Location").containsEntry("Idempotency-Replayed", "true");
        assertThat(approvals("10")).isEqualTo(1);
    }
}
