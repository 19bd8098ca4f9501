package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

class ChildJvmTest {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    @Test
    void a_child_killed_before_its_commit_leaves_nothing_and_one_after_it_leaves_all()
            throws Exception {
        try (var db = TestDatabase.postgres();
                var before = writer(db, "before");
                var after = writer(db, "after")) {
            db.execute("CREATE TABLE entry (name TEXT)");
            before.awaitCheckpoint("started");
            before.proceed();
            before.awaitCheckpoint("written");
            before.kill();

            after.awaitCheckpoint("started");
            after.proceed();
            after.awaitCheckpoint("written");
            after.proceed();
            after.awaitCheckpoint("committed");
            after.kill();

            awaitAlone(db);
            assertThat(db.value("SELECT string_agg(name, ',') FROM entry", String.class))
                    .contains("after");
            assertThat(before.exitCode(DEADLINE)).isEqualTo(128 + 9);
        }
    }

    @Test
    void a_child_ends_with_its_own_exit_code_and_its_lines_are_kept() throws Exception {
        try (var child = ChildJvm.start(Leaver.class, "häuser", "7")) {
            assertThat(child.awaitLine("hello ")).isEqualTo("hello häuser");
            assertThat(child.exitCode(DEADLINE)).isEqualTo(7);
            Await.until(DEADLINE, () -> !child.errors().isEmpty(), "stderr was read");
            assertThat(child.errors()).isEqualTo(List.of("goodbye"));
        }
    }

    @Test
    void waiting_for_a_child_that_has_ended_fails_at_once_with_its_output() throws Exception {
        try (var child = ChildJvm.start(Leaver.class, "you", "7")) {
            child.exitCode(DEADLINE);
            assertThatThrownBy(() -> child.awaitLine("never", Duration.ofHours(1)))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("until printed \"never\"")
                    .hasMessageContaining("ended with 7")
                    .hasMessageContaining("hello you")
                    .hasMessageContaining("goodbye");
        }
    }

    @Test
    void a_frozen_child_stands_still_until_thawed() throws Exception {
        try (var child = ChildJvm.start(Ticker.class)) {
            child.awaitLine("tick");
            child.freeze();
            Await.until(DEADLINE, () -> state(child).startsWith("T"), "the child was stopped");

            child.thaw();

            Await.until(DEADLINE, () -> !state(child).startsWith("T"), "the child went on");
            int before = child.output().size();
            Await.until(DEADLINE, () -> child.output().size() > before, "it printed again");
        }
    }

    @Test
    void a_child_dies_with_its_parent() throws Exception {
        try (var parent = ChildJvm.start(Parent.class)) {
            long orphan = Long.parseLong(parent.awaitLine("child ").substring(6));
            assertThat(ProcessHandle.of(orphan)).isPresent();

            parent.kill();

            Await.until(DEADLINE, () -> ProcessHandle.of(orphan).isEmpty(), "the orphan was gone");
        }
    }

    @Test
    void a_checkpoint_outside_a_child_is_a_mistake() {
        assertThatThrownBy(() -> Checkpoint.reached("here"))
                .isInstanceOf(IllegalStateException.class);
    }

    /** The server notices a dead client in a moment, not at once. */
    private static void awaitAlone(TestDatabase db) throws Exception {
        String backends =
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                        + " AND backend_type = 'client backend'";
        Await.until(DEADLINE, () -> db.count(backends) == 1, "the children's backends were gone");
    }

    /** The state of its process as ps prints it: T for stopped. */
    private static String state(ChildJvm child) throws IOException {
        var ps = new ProcessBuilder("ps", "-o", "stat=", "-p", "" + child.pid()).start();
        return new String(ps.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }

    private static ChildJvm writer(TestDatabase db, String name) throws Exception {
        return ChildJvm.start(Writer.class, db.url(), db.user(), db.password(), name);
    }

    static final class Writer {
        public static void main(String[] args) throws Exception {
            Checkpoint.reached("started");
            try (var connection = DataSources.unpooled(args[0], args[1], args[2]).getConnection()) {
                connection.setAutoCommit(false);
                connection
                        .createStatement()
                        .execute("INSERT INTO entry VALUES ('" + args[3] + "')");
                Checkpoint.reached("written");
                connection.commit();
                Checkpoint.reached("committed");
            }
        }
    }

    static final class Leaver {
        public static void main(String[] args) {
            System.out.println("hello " + args[0]);
            System.err.println("goodbye");
            System.exit(Integer.parseInt(args[1]));
        }
    }

    static final class Ticker {
        public static void main(String[] args) {
            while (true) {
                System.out.println("tick");
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    static final class Parent {
        public static void main(String[] args) throws Exception {
            var child = ChildJvm.start(Ticker.class);
            child.awaitLine("tick");
            System.out.println("child " + child.pid());
            Checkpoint.reached("waiting to be killed");
        }
    }
}
