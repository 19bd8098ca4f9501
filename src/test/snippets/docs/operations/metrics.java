package docs.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.*;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.onlyonce.OnlyOnce;
import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.observe.*;
import io.onlyonce.observe.MicrometerListener.Polled;
import io.onlyonce.payload.PayloadHash;
import io.onlyonce.retention.Retention;
import java.sql.*;
import java.time.*;
import java.util.*;

public class metrics extends Harness {

    private final MeterRegistry registry = new SimpleMeterRegistry();

    interface Question {
        Number of(Connection connection) throws SQLException;
    }

    private Number asked(Question question) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return question.of(connection);
        }
    }

    private static long age(Optional<Instant> since) {
        return since.map(s -> Duration.between(s, Instant.now()).toSeconds()).orElse(0L);
    }

    private static long rows(List<Inspector.TableSize> sizes, String table) {
        return sizes.stream().filter(s -> s.table().equals(table)).findFirst().orElseThrow().rows();
    }

    public void a_command_is_counted() throws Exception {
        //> Meters
        var command = Command.of(new CommandScope("acme", "ui", "pay"), "c-1", PayloadHash.ofJson("{}"));
        once.commands().run(command, String.class, work -> "done");
        assertThat(registry.get("onlyonce.commands").tag("outcome", "started").counter().count()).isEqualTo(1);
    }

    public void gauges_ask_the_database() throws Exception {
        var listener = MicrometerListener.on(registry);
        //> What is asked of the database
        for (String gauge : List.of("unresolved", "outbox.backlog", "outbox.lag", "purge.lag")) {
            assertThat(registry.get("onlyonce." + gauge).gauge().value()).as(gauge).isZero();
        }
        assertThat(registry.get("onlyonce.records").gauge().value()).isGreaterThanOrEqualTo(0);
    }
}
