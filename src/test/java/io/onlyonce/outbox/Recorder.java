package io.onlyonce.outbox;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

/** A publisher that remembers what it was given and answers as it is told. */
final class Recorder implements EventPublisher {

    final List<OutboxEvent> delivered = Collections.synchronizedList(new ArrayList<>());
    final List<Integer> calls = Collections.synchronizedList(new ArrayList<>());
    private volatile Function<OutboxEvent, PublishResult> answer = e -> PublishResult.published();

    void answer(Function<OutboxEvent, PublishResult> answer) {
        this.answer = answer;
    }

    @Override
    public List<PublishResult> publish(List<OutboxEvent> events) {
        calls.add(events.size());
        List<PublishResult> results = new ArrayList<>();
        List<String> failed = new ArrayList<>();
        for (OutboxEvent event : events) {
            String aggregate = event.delivery().tenant() + "/" + event.aggregateId();
            PublishResult result =
                    failed.contains(aggregate) ? PublishResult.notTried() : answer.apply(event);
            if (result.kind() == PublishResult.Kind.PUBLISHED) {
                delivered.add(event);
            } else {
                failed.add(aggregate);
            }
            results.add(result);
        }
        return results;
    }

    List<String> keys() {
        synchronized (delivered) {
            return delivered.stream().map(OutboxEvent::key).toList();
        }
    }
}
