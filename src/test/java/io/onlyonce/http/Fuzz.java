package io.onlyonce.http;

import io.onlyonce.ground.Markers;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Headers and bodies as clients should not send them, and now and then as they should. */
public final class Fuzz {

    private static final String[] TYPES = {
        "application/json",
        "application/json",
        "application/json",
        "application/json",
        "application/json",
        "application/json; charset=utf-8",
        "application/json;;;",
        "text/plain",
        "application/x+json",
        "APPLICATION/JSON",
        "",
        ";"
    };
    private static final String[] BODIES = {
        "{\"reason\":\"ok\"}", "{\"reason\":\"ok\",\"caseVersion\":1}", "{}", "[]", "null",
                "1e999999999",
        "-0", "{\"a\":1,\"a\":2}", "\"\\ud800\"", "{\"reason\":\"\\u0000\"}", "\ufeff{}",
                "{\"reason\":",
        "{\"reason\":\"\u00fc\",\"officerId\":\"OFF-1\"}", "true false", "{\"caseVersion\":1e400}",
                ""
    };

    private final Random random;

    /** Every seed is a run of its own. */
    public Fuzz(long seed) {
        random = new Random(seed);
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    /** Lines of the header; usually one. */
    public List<String> key() {
        List<String> lines = new ArrayList<>();
        for (int n = random.nextInt(20) == 0 ? random.nextInt(4) : 1; n > 0; n--) {
            lines.add(line());
        }
        return lines;
    }

    private String line() {
        return switch (random.nextInt(8)) {
            case 0 -> '"' + text(random.nextInt(300), 0x20, 0x7F) + '"';
            case 1 -> text(random.nextInt(40), 1, 0x100);
            case 2 ->
                    '"'
                            + text(random.nextInt(12), 0x20, 0x7F)
                            + "\";"
                            + text(random.nextInt(12), 0x20, 0x7F);
            case 3 -> text(random.nextInt(5000), 0x20, 0x7F);
            case 4 -> Markers.MARK + random.nextInt(1000);
            // Often the same, for replays.
            default -> "\"" + Markers.MARK + random.nextInt(1000) + '"';
        };
    }

    private String text(int length, int from, int to) {
        var text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) (from + random.nextInt(to - from)));
        }
        return text.toString();
    }

    /** A value of {@code Content-Type}. */
    public String type() {
        return TYPES[random.nextInt(TYPES.length)];
    }

    /** At most 64 KB. */
    public byte[] body() {
        byte[] body =
                switch (random.nextInt(40)) {
                    case 0 -> "[".repeat(random.nextInt(65_536)).getBytes(StandardCharsets.UTF_8);
                    case 1 -> "9".repeat(random.nextInt(65_536)).getBytes(StandardCharsets.UTF_8);
                    case 2 ->
                            ("{\"a\":".repeat(random.nextInt(10_000)))
                                    .getBytes(StandardCharsets.UTF_8);
                    case 3, 4, 5 -> noise(random.nextInt(200));
                    default ->
                            BODIES[random.nextInt(BODIES.length)].getBytes(StandardCharsets.UTF_8);
                };
        if (body.length > 0 && random.nextInt(4) == 0) {
            body[random.nextInt(body.length)] = (byte) random.nextInt(256);
        }
        return body;
    }

    private byte[] noise(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
