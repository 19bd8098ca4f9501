package io.onlyonce.http;

import io.onlyonce.command.CommandScope;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What one request says, as far as it makes it this request: who asks, under which key, for what.
 * Other headers, trace ids and credentials have no part in it. Immutable; every {@code with} makes
 * a copy.
 */
public final class RequestParts {

    /** The resource, for operators. */
    record About(String type, String id) {}

    private final String tenant;
    private final String caller;
    private final List<String> key;
    private final SortedMap<String, String> path;
    private final String query;
    private final String contentType;
    private final byte[] body;
    private final @Nullable About about;

    private RequestParts(
            String tenant,
            String caller,
            List<String> key,
            SortedMap<String, String> path,
            String query,
            String contentType,
            byte[] body,
            @Nullable About about) {
        this.tenant = tenant;
        this.caller = caller;
        this.key = key;
        this.path = path;
        this.query = query;
        this.contentType = contentType;
        this.body = body;
        this.about = about;
    }

    /**
     * A request of this tenant and caller, as authentication has established them: a key of
     * somebody else is another key.
     *
     * @throws IllegalArgumentException unless each is 1 to 128 printable ASCII characters
     */
    public static RequestParts of(String tenant, String caller) {
        var scope = new CommandScope(tenant, caller, "checked here, before anything is read");
        return new RequestParts(
                scope.tenant(),
                scope.caller(),
                List.of(),
                new TreeMap<>(),
                "",
                "",
                new byte[0],
                null);
    }

    /** The lines of the header {@code Idempotency-Key}; null or empty if there are none. */
    public RequestParts withKey(@Nullable List<String> headerValues) {
        List<String> lines =
                headerValues == null
                        ? List.of()
                        : Collections.unmodifiableList(new ArrayList<>(headerValues));
        return new RequestParts(tenant, caller, lines, path, query, contentType, body, about);
    }

    /** The value, decoded, of one variable of the route template. */
    public RequestParts withPath(String variable, String value) {
        var more = new TreeMap<>(path);
        more.put(
                Objects.requireNonNull(variable, "variable"),
                Objects.requireNonNull(value, "value"));
        return new RequestParts(tenant, caller, key, more, query, contentType, body, about);
    }

    /**
     * The query as it was received, without the question mark; null or empty if there is none.
     * Another order or spelling is another request.
     */
    public RequestParts withQuery(@Nullable String rawQuery) {
        return new RequestParts(
                tenant,
                caller,
                key,
                path,
                rawQuery == null ? "" : rawQuery,
                contentType,
                body,
                about);
    }

    /**
     * The body as it was received; a copy is kept. With a JSON media type key order, whitespace and
     * number spelling do not matter, with any other every byte does.
     *
     * @param contentType the header {@code Content-Type}; null if there is none
     */
    public RequestParts withBody(@Nullable String contentType, byte[] body) {
        return new RequestParts(
                tenant,
                caller,
                key,
                path,
                query,
                contentType == null ? "" : contentType,
                body.clone(),
                about);
    }

    /** What the request is about, kept with the command for operators. */
    public RequestParts about(String resourceType, String resourceId) {
        return new RequestParts(
                tenant,
                caller,
                key,
                path,
                query,
                contentType,
                body,
                new About(resourceType, resourceId));
    }

    /** Whose data it is about. */
    public String tenant() {
        return tenant;
    }

    /** Who asks. */
    public String caller() {
        return caller;
    }

    /** The values of the route's variables. */
    public Map<String, String> path() {
        return Collections.unmodifiableSortedMap(path);
    }

    /** The value of one of the route's variables. */
    public String path(String variable) {
        String value = path.get(variable);
        if (value == null) {
            throw new IllegalArgumentException(
                    "The route has no variable {" + variable + "}; look at its template.");
        }
        return value;
    }

    /** The query as it was received; empty if there is none. */
    public String query() {
        return query;
    }

    /** The body, in an array of the caller's own. */
    public byte[] body() {
        return body.clone();
    }

    List<String> key() {
        return key;
    }

    String contentType() {
        return contentType;
    }

    Optional<About> about() {
        return Optional.ofNullable(about);
    }

    /** The size of the body; the rest is the caller's. */
    @Override
    public String toString() {
        return "RequestParts[" + body.length + " bytes]";
    }
}
