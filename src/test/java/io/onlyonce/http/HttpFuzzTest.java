package io.onlyonce.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Whatever a client sends, it gets a documented answer, in bounded time and memory. */
class HttpFuzzTest extends DatabaseContract {

    private static final long MOST_BYTES = 16 << 20;
    private static final Duration LONGEST = Duration.ofSeconds(2);

    HttpFuzzTest() {
        super(() -> TestDatabase.postgres().withHostileIds());
    }

    @Test
    void ten_thousand_requests_get_documented_answers() throws Exception {
        fuzz(10_000, 1);
    }

    @Test
    @Tag("long")
    void a_million_requests_get_documented_answers() throws Exception {
        fuzz(1_000_000, 2);
    }

    private void fuzz(int requests, long seed) throws Exception {
        Schema.apply(db.dataSource());
        OnlyOnce once = OnlyOnce.on(db.pool(2)).withTtl(Duration.ofDays(1)).build();
        HttpIdempotency strict = HttpIdempotency.on(once);
        HttpIdempotency lenient = strict.withKeys(KeyFormat.lenient());
        HttpOperation operation = HttpOperation.of("fuzz", "POST", "/fuzz");
        var meter = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        var fuzz = new Fuzz(seed);
        Map<Integer, Integer> statuses = new TreeMap<>();
        long longest = 0;
        for (int i = 0; i < requests; i++) {
            RequestParts request =
                    RequestParts.of("acme", "portal")
                            .withKey(fuzz.key())
                            .withBody(fuzz.type(), fuzz.body());
            int status = fuzz.below(3) == 0 ? 409 : 201;
            long bytes = meter.getCurrentThreadAllocatedBytes();
            long start = System.nanoTime();
            StoredResponse response =
                    (fuzz.below(2) == 0 ? strict : lenient)
                            .handle(operation, request, work -> StoredResponse.of(status));
            longest = Math.max(longest, System.nanoTime() - start);
            assertThat(meter.getCurrentThreadAllocatedBytes() - bytes).isLessThan(MOST_BYTES);
            statuses.merge(response.status(), 1, Integer::sum);
        }
        System.out.println(
                "fuzz: " + statuses + ", longest " + Duration.ofNanos(longest).toMillis() + " ms");
        assertThat(statuses.keySet()).isEqualTo(Set.of(201, 400, 409, 422));
        assertThat(Duration.ofNanos(longest)).isLessThan(LONGEST);
    }
}
