package io.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A reader who follows a link arrives. */
class LinksTest {

    /** Its pictures come with a whole run of the comparison. */
    private static final String PICTURES = "performance.md";

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]*)(?:#([^)\\s]*))?\\)");

    @Test
    void every_link_between_documents_leads_to_a_file_and_a_heading() throws IOException {
        List<Path> documents = new ArrayList<>();
        try (Stream<Path> files =
                Stream.concat(Files.list(Path.of("")), Files.walk(Path.of("docs")))) {
            files.filter(f -> f.toString().endsWith(".md"))
                    .filter(f -> !f.endsWith(PICTURES))
                    .forEach(documents::add);
        }
        List<String> dead = new ArrayList<>();
        int links = 0;
        for (Path document : documents) {
            for (MatchResult link : LINK.matcher(Files.readString(document)).results().toList()) {
                if (!link.group(1).contains(":")) {
                    links++;
                    Path target =
                            link.group(1).isEmpty()
                                    ? document
                                    : document.resolveSibling(link.group(1)).normalize();
                    if (!Files.exists(target) || !hasAnchor(target, link.group(2))) {
                        dead.add(document + ": " + link.group());
                    }
                }
            }
        }
        assertThat(links).isGreaterThan(30);
        assertThat(dead).isEmpty();
    }

    private static boolean hasAnchor(Path target, String anchor) throws IOException {
        return anchor == null
                || Files.readAllLines(target).stream()
                        .filter(line -> line.startsWith("#"))
                        .map(line -> line.replaceFirst("^#+ *", "").toLowerCase(Locale.ROOT))
                        .map(line -> line.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                        .anyMatch(anchor::equals);
    }
}
