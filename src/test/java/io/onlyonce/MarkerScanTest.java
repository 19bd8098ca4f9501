package io.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.Markers;
import io.onlyonce.payload.StoredResultUnreadableException;

import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The last test of all: nothing that the others carried has shown anywhere. */
class MarkerScanTest {

    private static final String CANARY = Markers.MARK + "-canary";

    @Test
    void no_log_event_and_no_exception_of_ours_shows_an_id_or_a_payload() throws Exception {
        new StoredResultUnreadableException(CANARY);
        LoggerFactory.getLogger(OnlyOnce.class).trace("a message with {}", CANARY);
        LoggerFactory.getLogger(OnlyOnce.class)
                .debug("an exception", new IllegalStateException("caused", new Error(CANARY)));

        var messages = Markers.messages();
        System.out.println(messages.size() + " exceptions of ours were looked at");
        assertThat(messages).as("the scan sees exceptions").anyMatch(m -> m.contains(CANARY));
        assertThat(Markers.inLogs()).as("the scan sees logs").anyMatch(m -> m.contains(CANARY));
        assertThat(Markers.inLogs())
                .as("and what caused them")
                .anyMatch(m -> m.contains("caused") && m.contains(CANARY));

        assertThat(Markers.unmarked()).as("tests whose rows the scan would miss").isEmpty();
        assertThat(messages)
                .filteredOn(m -> !m.contains(CANARY))
                .noneMatch(m -> m.contains(Markers.MARK));
        assertThat(Markers.inLogs())
                .filteredOn(m -> !m.contains(CANARY))
                .noneMatch(m -> m.contains(Markers.MARK));
    }
}
