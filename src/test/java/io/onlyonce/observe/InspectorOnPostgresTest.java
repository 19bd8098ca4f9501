package io.onlyonce.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.sql.Connection;

class InspectorOnPostgresTest extends InspectorContract {

    InspectorOnPostgresTest() {
        super(TestDatabase::postgres);
    }

    @Test
    void what_is_in_flight_is_counted_with_its_age() throws Exception {
        try (Connection connection = db.connect();
                Connection caller = db.connect()) {
            assertThat(inspector.inFlight(connection).orElseThrow().locks()).isZero();
            caller.setAutoCommit(false);
            once.dedup().tryStart(caller, command("teller", "flying"));
            once.dedup().tryStart(caller, command("teller", "flying too"));

            var now = inspector.inFlight(connection).orElseThrow();

            assertThat(now.locks()).isEqualTo(2);
            assertThat(now.transactions()).isEqualTo(1);
            assertThat(now.idle()).isEqualTo(1);
            assertThat(now.since()).isPresent();
            caller.rollback();
        }
    }
}
