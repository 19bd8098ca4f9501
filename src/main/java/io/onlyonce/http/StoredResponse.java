package io.onlyonce.http;

import io.onlyonce.payload.StoredResultUnreadableException;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * A response: what a handler answers, what is stored, and what is sent again. Immutable; every
 * {@code with} makes a copy. Equal if status, headers and body are, whatever the case of header
 * names.
 */
public final class StoredResponse {

    private final int status;
    private final Map<String, List<String>> headers;
    private final byte[] body;

    private StoredResponse(int status, Map<String, List<String>> headers, byte[] body) {
        this.status = status;
        this.headers = headers;
        this.body = body;
    }

    /** A response without headers and body. */
    public static StoredResponse of(int status) {
        if (status < 100 || status > 599) {
            throw new IllegalArgumentException("A status must be within 100 and 599.");
        }
        return new StoredResponse(status, noHeaders(), new byte[0]);
    }

    /** All three parts at once, from a framework's own; headers as in {@link #withHeader}. */
    public static StoredResponse of(int status, Map<String, List<String>> headers, byte[] body) {
        StoredResponse response = of(status);
        for (var header : headers.entrySet()) {
            for (String value : header.getValue()) {
                response = response.withHeader(header.getKey(), value);
            }
        }
        return response.withBody(body);
    }

    /**
     * With one more line of this header.
     *
     * @throws IllegalArgumentException if the name is no token, or the value has characters that
     *     would end the line or that a header cannot carry
     */
    public StoredResponse withHeader(String name, String value) {
        if (name.isEmpty()
                || !name.chars().allMatch(c -> StructuredString.isTokenCharacter((char) c))) {
            throw new IllegalArgumentException(
                    "A header name must be letters, digits and !#$%&'*+-.^_`|~ only.");
        }
        if (!value.chars().allMatch(StoredResponse::isOfAHeader)) {
            throw new IllegalArgumentException(
                    "The value of the header "
                            + name
                            + " holds a control character or one beyond Latin-1; encode it.");
        }
        Map<String, List<String>> more = noHeaders();
        more.putAll(headers);
        List<String> values = new ArrayList<>(more.getOrDefault(name, List.of()));
        values.add(value);
        more.put(name, List.copyOf(values));
        return new StoredResponse(status, more, body);
    }

    private static boolean isOfAHeader(int c) {
        return c == '\t' || (c >= ' ' && c != 0x7F && c <= 0xFF);
    }

    /** With this body; a copy of it is kept. */
    public StoredResponse withBody(byte[] body) {
        return new StoredResponse(status, headers, body.clone());
    }

    /** With this text in UTF-8 as body, and its media type as {@code Content-Type}. */
    public StoredResponse withBody(String contentType, String text) {
        return without("Content-Type"::equalsIgnoreCase)
                .withHeader("Content-Type", contentType)
                .withBody(text.getBytes(StandardCharsets.UTF_8));
    }

    /** With this JSON text as body. */
    public StoredResponse withJson(String json) {
        return withBody("application/json", json);
    }

    StoredResponse without(Predicate<String> names) {
        Map<String, List<String>> fewer = noHeaders();
        headers.forEach(
                (name, values) -> {
                    if (!names.test(name)) {
                        fewer.put(name, values);
                    }
                });
        return new StoredResponse(status, fewer, body);
    }

    private static Map<String, List<String>> noHeaders() {
        return new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    }

    /** The status code. */
    public int status() {
        return status;
    }

    /** The lines of each header, sorted by name; look-ups ignore its case. */
    public Map<String, List<String>> headers() {
        return Collections.unmodifiableMap(headers);
    }

    /** The first line of this header, if there is one. */
    public Optional<String> header(String name) {
        return headers.getOrDefault(name, List.of()).stream().findFirst();
    }

    /** The body, in an array of the caller's own. */
    public byte[] body() {
        return body.clone();
    }

    /** The body read as UTF-8. */
    public String bodyText() {
        return new String(body, StandardCharsets.UTF_8);
    }

    /** True if the handler did not run for this response. */
    public boolean isReplayed() {
        return headers.containsKey(HttpIdempotency.REPLAYED_HEADER);
    }

    /**
     * The form that is stored as a command's result; an operator who settles a command passes it to
     * {@code Resolution.completed}.
     */
    public byte[] toBytes() {
        return Wire.write(this);
    }

    /**
     * The response that {@link #toBytes} wrote.
     *
     * @throws StoredResultUnreadableException if the bytes are something else
     */
    public static StoredResponse fromBytes(byte[] bytes) {
        return Wire.read(bytes);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof StoredResponse that
                && status == that.status
                && headers.equals(that.headers)
                && Arrays.equals(body, that.body);
    }

    @Override
    public int hashCode() {
        return 31 * status + Arrays.hashCode(body); // maps that are equal may differ in case
    }

    /** The status and the length; content is the caller's. */
    @Override
    public String toString() {
        return "StoredResponse[" + status + ", " + body.length + " bytes]";
    }
}
