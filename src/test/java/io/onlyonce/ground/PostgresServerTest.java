package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;

class PostgresServerTest {

    @ParameterizedTest
    @ValueSource(strings = {"fsync", "synchronous_commit", "full_page_writes"})
    void the_server_is_durable(String setting) throws SQLException {
        assertThat(PostgresServer.shared().show(setting)).isEqualTo("on");
    }

    @Test
    void an_acknowledged_commit_survives_a_crash_and_an_open_transaction_does_not()
            throws Exception {
        try (var server = PostgresServer.startPrivate();
                var db = TestDatabase.postgresOn(server)) {
            db.execute("CREATE TABLE entry (name TEXT)");
            try (var open = db.connect()) {
                open.setAutoCommit(false);
                open.createStatement().execute("INSERT INTO entry VALUES ('open')");
                db.execute("INSERT INTO entry VALUES ('acknowledged')");

                server.restart();

                assertThat(open.isValid(5)).isFalse();
            }
            assertThat(db.value("SELECT string_agg(name, ',') FROM entry", String.class))
                    .contains("acknowledged");
        }
    }

    @Test
    void a_closed_private_server_leaves_neither_process_nor_data() throws Exception {
        var server = PostgresServer.startPrivate();
        Path data = Path.of(server.show("data_directory"));
        long postmaster = Long.parseLong(Files.readAllLines(data.resolve("postmaster.pid")).get(0));
        assertThat(ProcessHandle.of(postmaster)).isPresent();

        server.close();

        assertThat(data).doesNotExist();
        Await.until(
                Duration.ofSeconds(10),
                () -> ProcessHandle.of(postmaster).isEmpty(),
                "the postmaster was gone");
    }

    @Test
    void a_server_does_not_outlive_a_killed_jvm() throws Exception {
        try (var child = ChildJvm.start(Keeper.class)) {
            Path data = Path.of(child.awaitLine("data ").substring(5));
            assertThat(data).exists();

            child.kill();

            Await.until(Duration.ofSeconds(20), () -> !Files.exists(data), "its data was gone");
        }
    }

    @Test
    void the_shared_server_refuses_to_crash() {
        assertThatThrownBy(PostgresServer.shared()::restart)
                .isInstanceOf(IllegalStateException.class);
    }

    static final class Keeper {
        public static void main(String[] args) throws Exception {
            try (var server = PostgresServer.startPrivate()) {
                System.out.println("data " + server.show("data_directory"));
                Checkpoint.reached("waiting to be killed");
            }
        }
    }
}
