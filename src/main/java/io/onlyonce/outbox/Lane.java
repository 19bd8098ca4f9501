package io.onlyonce.outbox;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Where one thread of a relay is on its way through the buckets: it begins where its last batch
 * ended, because what that emptied has only dead rows to read through.
 */
final class Lane {

    private int next;
    private boolean isFull;

    /** These buckets, in the order in which they are to be read. */
    List<Integer> order(List<Integer> buckets) {
        var order = new ArrayList<>(buckets);
        long before = order.stream().filter(bucket -> bucket < next).count();
        Collections.rotate(order, (int) -before);
        return order;
    }

    /** A bucket that fills whole batches must not keep the others waiting. */
    void moveOn(List<Integer> order, List<StoredEvent> batch, int limit) {
        int last = batch.stream().mapToInt(event -> order.indexOf(event.bucket())).max().orElse(0);
        next = last == 0 ? order.get(0) + 1 : order.get(last);
        isFull = batch.size() == limit;
    }

    /** True if its last batch was full, so that more may wait. */
    boolean isFull() {
        return isFull;
    }
}
