package io.onlyonce.docs;

import io.onlyonce.docs.Page.Snippet;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * A harness with the snippets in their places. A place is a line of its own: {@code //> heading}.
 */
final class Generated extends SimpleJavaFileObject {

    private static final String PLACE = "//> ";

    private final String source;
    private final List<String> origins; // of each line, for messages that point into the document

    private Generated(Page page, List<String> lines, List<String> origins) {
        super(URI.create("string:///" + page.className().replace('.', '/') + ".java"), Kind.SOURCE);
        this.source = String.join("\n", lines);
        this.origins = origins;
    }

    static Generated from(Page page) throws IOException {
        if (!Files.exists(page.harness())) {
            throw new AssertionError(
                    page.path() + " shows Java, and there is no " + page.harness());
        }
        List<String> harness = Files.readAllLines(page.harness());
        List<Snippet> left = new ArrayList<>(page.snippets());
        List<String> lines = new ArrayList<>();
        List<String> origins = new ArrayList<>();
        for (int i = 0; i < harness.size(); i++) {
            String line = harness.get(i);
            if (line.strip().startsWith(PLACE)) {
                Snippet snippet = take(page, left, line.strip().substring(PLACE.length()));
                for (int j = 0; j < snippet.code().size(); j++) {
                    lines.add(snippet.code().get(j));
                    origins.add(page.path() + ":" + (snippet.line() + j));
                }
            } else {
                lines.add(line);
                origins.add(page.harness() + ":" + (i + 1));
            }
        }
        if (!left.isEmpty()) {
            throw new AssertionError(
                    "%s:%d: this snippet has no place in %s, which would be: %s%s"
                            .formatted(
                                    page.path(),
                                    left.get(0).line(),
                                    page.harness(),
                                    PLACE,
                                    left.get(0).name()));
        }
        return new Generated(page, lines, origins);
    }

    /** Compiles all in one go; a failure names the line of the document. */
    static void compile(List<Generated> sources, Path classes) throws IOException {
        var compiler = ToolProvider.getSystemJavaCompiler();
        var problems = new DiagnosticCollector<JavaFileObject>();
        var options =
                List.of(
                        "--release",
                        "17",
                        "-proc:none",
                        "-classpath",
                        System.getProperty("java.class.path"),
                        "-d",
                        classes.toString());
        if (!compiler.getTask(null, null, problems, options, null, sources).call()) {
            List<String> errors =
                    problems.getDiagnostics().stream()
                            .filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
                            .map(Generated::describe)
                            .toList();
            throw new AssertionError(String.join("\n", errors));
        }
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
        return source;
    }

    private static String describe(Diagnostic<? extends JavaFileObject> problem) {
        return problem.getSource() instanceof Generated generated
                ? generated.origins.get((int) problem.getLineNumber() - 1)
                        + ": "
                        + problem.getMessage(null)
                : problem.toString();
    }

    private static Snippet take(Page page, List<Snippet> left, String name) {
        for (int i = 0; i < left.size(); i++) {
            if (left.get(i).name().equals(name)) {
                return left.remove(i);
            }
        }
        throw new AssertionError(
                page.harness()
                        + " has a place for \""
                        + name
                        + "\", which "
                        + page.path()
                        + " does not show");
    }
}
