package io.onlyonce.http;

import java.util.Set;
import java.util.TreeSet;

/** Which headers of a response are stored; all others are for the first caller alone. */
final class ReplayedHeaders {

    /** Of one connection, one moment or one caller: a replay must not repeat them. */
    private static final Set<String> NEVER =
            ignoringCase(
                    "Age",
                    "Authentication-Info",
                    "Authorization",
                    "Connection",
                    "Content-Length",
                    "Cookie",
                    "Date",
                    HttpIdempotency.REPLAYED_HEADER,
                    "Keep-Alive",
                    "Proxy-Authenticate",
                    "Proxy-Authentication-Info",
                    "Proxy-Authorization",
                    "Proxy-Connection",
                    "Set-Cookie",
                    "Set-Cookie2",
                    "TE",
                    "Trailer",
                    "Transfer-Encoding",
                    "Upgrade",
                    "WWW-Authenticate");

    static final ReplayedHeaders STANDARD =
            new ReplayedHeaders(
                    ignoringCase(
                            "Cache-Control",
                            "Content-Disposition",
                            "Content-Encoding",
                            "Content-Language",
                            "Content-Location",
                            "Content-Type",
                            "ETag",
                            "Last-Modified",
                            "Link",
                            "Location",
                            "Retry-After",
                            "Vary"));

    private final Set<String> names;

    private ReplayedHeaders(Set<String> names) {
        this.names = names;
    }

    ReplayedHeaders with(String name) {
        if (NEVER.contains(name)) {
            throw new IllegalArgumentException(
                    "The header " + name + " is never replayed; it belongs to one response.");
        }
        Set<String> more = ignoringCase(name);
        more.addAll(names);
        return new ReplayedHeaders(more);
    }

    StoredResponse keptOf(StoredResponse response) {
        return response.without(name -> !names.contains(name));
    }

    private static Set<String> ignoringCase(String... names) {
        Set<String> set = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        set.addAll(Set.of(names));
        return set;
    }
}
