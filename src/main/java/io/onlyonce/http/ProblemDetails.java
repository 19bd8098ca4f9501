package io.onlyonce.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A refusal as a problem document (RFC 9457). It never holds stored bytes, keys or what a server
 * said. Immutable; every {@code with} makes a copy.
 */
public final class ProblemDetails {

    /** The media type of the document. */
    public static final String MEDIA_TYPE = "application/problem+json";

    static final String TYPES = "urn:onlyonce:problem:";

    private static final JsonMapper JSON = new JsonMapper();

    private final String type;
    private final String title;
    private final int status;
    private final String detail;
    private final String code;
    private final boolean retryable;
    private final Map<String, String> more;

    /** A problem of one's own, in the same form. */
    public ProblemDetails(
            String type, String title, int status, String detail, String code, boolean retryable) {
        this(type, title, status, detail, code, retryable, Map.of());
    }

    private ProblemDetails(
            String type,
            String title,
            int status,
            String detail,
            String code,
            boolean retryable,
            Map<String, String> more) {
        this.type = Objects.requireNonNull(type, "type");
        this.title = Objects.requireNonNull(title, "title");
        this.status = StoredResponse.of(status).status();
        this.detail = Objects.requireNonNull(detail, "detail");
        this.code = Objects.requireNonNull(code, "code");
        this.retryable = retryable;
        this.more = more;
    }

    /** With another URI for the kind of problem, for example that of your documentation. */
    public ProblemDetails withType(String type) {
        return new ProblemDetails(type, title, status, detail, code, retryable, more);
    }

    /** With another sentence for the kind of problem. */
    public ProblemDetails withTitle(String title) {
        return new ProblemDetails(type, title, status, detail, code, retryable, more);
    }

    /** With another status. */
    public ProblemDetails withStatus(int status) {
        return new ProblemDetails(type, title, status, detail, code, retryable, more);
    }

    /** With another sentence for this case. */
    public ProblemDetails withDetail(String detail) {
        return new ProblemDetails(type, title, status, detail, code, retryable, more);
    }

    /** With another answer to whether the same request, under the same key, may succeed later. */
    public ProblemDetails withRetryable(boolean retryable) {
        return new ProblemDetails(type, title, status, detail, code, retryable, more);
    }

    /** With one more member, after the others. */
    public ProblemDetails with(String name, String value) {
        Map<String, String> members = new LinkedHashMap<>(more);
        members.put(name, Objects.requireNonNull(value, "value"));
        return new ProblemDetails(type, title, status, detail, code, retryable, members);
    }

    /** The URI of the kind of problem. */
    public String type() {
        return type;
    }

    /** The kind of problem, for people. */
    public String title() {
        return title;
    }

    /** The status to answer with. */
    public int status() {
        return status;
    }

    /** This case of it, for people. */
    public String detail() {
        return detail;
    }

    /** The kind of problem, for programs; the name of a {@link ProblemCode} if it is ours. */
    public String code() {
        return code;
    }

    /** True if the same request, under the same key, may succeed later. */
    public boolean retryable() {
        return retryable;
    }

    /** The document as a response. */
    public StoredResponse toResponse() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", type);
        members.put("title", title);
        members.put("status", status);
        members.put("detail", detail);
        members.put("code", code);
        members.put("retryable", retryable);
        more.forEach(members::putIfAbsent);
        return StoredResponse.of(status).withBody(MEDIA_TYPE, json(members));
    }

    static String json(Map<String, ?> members) {
        try {
            return JSON.writeValueAsString(members);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("Texts, numbers and booleans are JSON", e);
        }
    }

    /** The code and the status. */
    @Override
    public String toString() {
        return "ProblemDetails[" + code + ", " + status + "]";
    }
}
