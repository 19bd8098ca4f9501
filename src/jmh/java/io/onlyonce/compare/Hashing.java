package io.onlyonce.compare;

import com.fasterxml.jackson.databind.json.JsonMapper;

import io.onlyonce.payload.PayloadHash;

import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;

/** The payload hash of a JSON document against parsing it with Jackson and doing nothing else. */
final class Hashing implements Compare.Comparison {

    private static final JsonMapper JSON = new JsonMapper();

    /** Large documents are rare enough to time one by one; small ones are timed 20 at a time. */
    private static final int BLOCK = 400;

    @Override
    public void run(Ground ground, Report report, Effort effort) throws Exception {
        for (int size : new int[] {1, 64}) {
            byte[] document = document(size * 1_024);
            int times = size == 1 ? 20 : 1;
            var ways =
                    new Interleaved()
                            .add(
                                    "parsing",
                                    () -> () -> repeat(times, () -> JSON.readTree(document)))
                            .add(
                                    "hash",
                                    () -> () -> repeat(times, () -> PayloadHash.ofJson(document)));
            ways.run(ground, report, new Effort(effort.rounds() * 2, effort.share()), BLOCK);
            report.add(
                    "hashing %d KB against parsing".formatted(size),
                    Fresh.OURS,
                    ways.against("hash", "parsing"));
        }
    }

    private static void repeat(int times, Interleaved.Timed operation) throws Exception {
        for (int i = 0; i < times; i++) {
            operation.run();
        }
    }

    /** An order with as many lines as it takes, keys not in order. */
    static byte[] document(int size) {
        var lines =
                new StringJoiner(",", "{\"order\":\"o-1\",\"customer\":\"c-7\",\"lines\":[", "]}");
        for (int i = 0; lines.length() < size - 120; i++) {
            lines.add(
                    "{\"sku\":\"article-%d\",\"quantity\":%d,\"price\":\"%d.50\",\"weight\":%d.25,\"note\":\"as ordered, gr\u00fcn\"}"
                            .formatted(i, i % 9 + 1, i % 90, i % 40));
        }
        return lines.toString().getBytes(StandardCharsets.UTF_8);
    }
}
