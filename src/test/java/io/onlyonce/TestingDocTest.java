package io.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A table that points to tests is worth something only while the tests are there. */
class TestingDocTest {

    private static final Pattern POINTER =
            Pattern.compile("`([A-Z]\\w*(?:Test|Contract))(?:\\.(\\w+))?`");

    @Test
    void every_test_that_the_documentation_names_exists() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
                sources.put(
                        file.getFileName().toString().replace(".java", ""), Files.readString(file));
            }
        }
        String documents =
                Files.readString(Path.of("docs/testing.md"))
                        + Files.readString(Path.of("docs/checklist.md"));
        var pointers = POINTER.matcher(documents).results().toList();

        assertThat(pointers).hasSizeGreaterThan(40);
        assertThat(pointers)
                .allSatisfy(
                        (MatchResult pointer) -> {
                            assertThat(sources).containsKey(pointer.group(1));
                            if (pointer.group(2) != null) {
                                assertThat(sources.get(pointer.group(1)))
                                        .contains(" " + pointer.group(2) + "(");
                            }
                        });
    }
}
