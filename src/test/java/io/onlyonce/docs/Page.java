package io.onlyonce.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A document with Java in it, and the harness that stands around its snippets.
 *
 * <p>A snippet is named after the heading above it; the second under one heading is {@code heading
 * (2)}. In Javadoc the snippets are the {@code <pre>} blocks of a package, named {@code example}.
 */
record Page(Path path, List<Snippet> snippets) {

    /** So many lines of the document, the first of them on this line, counted from 1. */
    record Snippet(String name, int line, List<String> code) {}

    private static final Path HARNESSES = Path.of("src/test/snippets");

    /**
     * README, everything in docs, and the description of every package, as far as they show Java.
     */
    static List<Page> all() throws IOException {
        List<Path> paths = new ArrayList<>(List.of(Path.of("README.md")));
        paths.addAll(files(Path.of("docs"), ".md"));
        paths.addAll(files(Path.of("src/main/java"), "package-info.java"));
        List<Page> pages = new ArrayList<>();
        for (Path path : paths) {
            Page page = read(path, "java");
            if (!page.snippets().isEmpty()) {
                pages.add(page);
            }
        }
        return pages;
    }

    /** The one page whose snippets need libraries that only a source set of its own has. */
    static Page frameworks() throws IOException {
        return read(Path.of("docs/frameworks.md"), "java");
    }

    /** Every harness there is, whether or not a document goes with it. */
    static List<Path> harnesses() throws IOException {
        return files(HARNESSES, ".java");
    }

    /** The blocks of SQL that a document shows. */
    static List<Snippet> sql(Path path) throws IOException {
        return read(path, "sql").snippets();
    }

    /** Where the harness of this document is. */
    Path harness() {
        return HARNESSES.resolve(className().replace('.', '/') + ".java");
    }

    /** The harness's class: the document's path, in {@code javadoc} for a package. */
    String className() {
        String name = path.toString().replace('\\', '/').replace('-', '_');
        return name.endsWith(".md")
                ? name.replace(".md", "").replace('/', '.')
                : "javadoc." + path.getParent().getFileName();
    }

    private static Page read(Path path, String language) throws IOException {
        boolean javadoc = path.toString().endsWith(".java");
        String begin = javadoc ? " * <pre>{@code" : "```" + language;
        String end = javadoc ? " * }</pre>" : "```";
        List<String> lines = Files.readAllLines(path);
        List<Snippet> snippets = new ArrayList<>();
        String heading = javadoc ? "example" : "top";
        int under = 0;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.equals(begin)) {
                int first = i + 1;
                i = end(path, lines, first, end);
                List<String> code =
                        lines.subList(first, i).stream()
                                .map(l -> javadoc ? l.replaceFirst("^ \\* ?", "") : l)
                                .toList();
                String name = ++under == 1 ? heading : heading + " (" + under + ")";
                snippets.add(new Snippet(name, first + 1, code));
            } else if (line.startsWith("```")) {
                i = end(path, lines, i + 1, end);
            } else if (line.startsWith("#")) {
                heading = line.replaceFirst("^#+ *", "").replace("`", "").strip();
                under = 0;
            }
        }
        return new Page(path, snippets);
    }

    private static int end(Path path, List<String> lines, int from, String end) {
        for (int i = from; i < lines.size(); i++) {
            if (lines.get(i).equals(end)) {
                return i;
            }
        }
        throw new AssertionError(path + ":" + from + ": this block never ends");
    }

    private static List<Path> files(Path root, String end) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(f -> f.toString().endsWith(end)).sorted().toList();
        }
    }
}
