package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

class InspectorOnH2Test extends InspectorContract {

    InspectorOnH2Test() {
        super(TestDatabase::h2);
    }

    @Test
    void what_is_in_flight_cannot_be_seen() throws Exception {
        try (var connection = db.connect()) {
            assertThat(inspector.inFlight(connection)).isEmpty();
        }
    }
}
