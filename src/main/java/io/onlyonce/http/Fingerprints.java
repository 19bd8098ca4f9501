package io.onlyonce.http;

import io.onlyonce.payload.CanonicalJson;
import io.onlyonce.payload.JsonLimits;
import io.onlyonce.payload.PayloadHash;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What makes a request the same request: method, route, path variables, query, tenant, caller and
 * body. The names of the fields are part of what is stored, so they never change.
 */
final class Fingerprints {

    private final JsonLimits limits;

    Fingerprints(JsonLimits limits) {
        this.limits = limits;
    }

    PayloadHash of(HttpOperation operation, RequestParts request) {
        Map<String, Object> fields = new HashMap<>();
        fields.put("method", operation.method());
        fields.put("route", operation.route());
        fields.put("tenant", request.tenant());
        fields.put("caller", request.caller());
        fields.put("query", request.query());
        request.path().forEach((variable, value) -> fields.put("path." + variable, value));
        byte[] body = request.body();
        if (body.length > 0 && isJson(request.contentType())) {
            fields.put("json", new CanonicalJson(limits).canonicalize(body));
        } else {
            fields.put("bytes", sha256(body)); // uploads may be large, and a hash keeps its content
        }
        // The body was measured above; the rest is bounded by whoever accepts headers.
        return PayloadHash.ofFields(fields, limits.withBytes(Integer.MAX_VALUE));
    }

    /** {@code application/json} and every type that ends in {@code +json}. */
    static boolean isJson(String contentType) {
        int end = contentType.indexOf(';');
        String type = (end < 0 ? contentType : contentType.substring(0, end)).strip();
        String lower = type.toLowerCase(Locale.ROOT);
        return lower.equals("application/json") || lower.endsWith("+json");
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
