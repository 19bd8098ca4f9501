package io.onlyonce.http;

import io.onlyonce.payload.StoredResultUnreadableException;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Responses as they are stored. Much like on the wire, so that whoever looks into the table can
 * read it: a line with version and status, a line per header, an empty line, and the body as it is.
 */
final class Wire {

    private static final String VERSION = "onlyonce-http/1 ";

    private Wire() {}

    static byte[] write(StoredResponse response) {
        var head = new StringBuilder(VERSION).append(response.status()).append('\n');
        response.headers()
                .forEach(
                        (name, values) ->
                                values.forEach(
                                        v -> head.append(name).append(':').append(v).append('\n')));
        var out = new ByteArrayOutputStream();
        out.writeBytes(head.append('\n').toString().getBytes(StandardCharsets.ISO_8859_1));
        out.writeBytes(response.body());
        return out.toByteArray();
    }

    static StoredResponse read(byte[] bytes) {
        try {
            String line = line(bytes, 0);
            if (!line.startsWith(VERSION)) {
                throw new StoredResultUnreadableException("it is not an HTTP response");
            }
            int at = line.length() + 1;
            StoredResponse response =
                    StoredResponse.of(Integer.parseInt(line.substring(VERSION.length())));
            for (line = line(bytes, at); !line.isEmpty(); line = line(bytes, at)) {
                int colon = line.indexOf(':');
                response = response.withHeader(line.substring(0, colon), line.substring(colon + 1));
                at += line.length() + 1;
            }
            return response.withBody(Arrays.copyOfRange(bytes, at + 1, bytes.length));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new StoredResultUnreadableException("it is an HTTP response with a broken head");
        }
    }

    private static String line(byte[] bytes, int from) {
        int to = from;
        while (bytes[to] != '\n') {
            to++;
        }
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
