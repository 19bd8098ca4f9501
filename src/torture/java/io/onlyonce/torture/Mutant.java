package io.onlyonce.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import javax.tools.ToolProvider;

/**
 * The library with a bug planted: texts of its sources are replaced, and what changes is compiled
 * into a folder that comes first on a client's class path. A text that is not there any more fails
 * loudly, so that no planted bug is lost when the library changes.
 */
record Mutant(String name, List<Edit> edits) {

    private static final Path SOURCES = Path.of("src", "main", "java", "io", "onlyonce");

    /** A file below the library's root package, and what becomes of one of its texts. */
    record Edit(String file, String text, String instead) {}

    static Mutant of(String name, String file, String text, String instead) {
        return new Mutant(name, List.of(new Edit(file, text, instead)));
    }

    Mutant and(String file, String text, String instead) {
        List<Edit> more = new ArrayList<>(edits);
        more.add(new Edit(file, text, instead));
        return new Mutant(name, more);
    }

    /** Compiles into a new folder below this one; returns it. */
    Path compile(Path folder) throws IOException {
        Path sources = Files.createDirectories(folder.resolve("sources"));
        Path classes = Files.createDirectories(folder.resolve("classes"));
        plant(sources);
        List<String> args =
                new ArrayList<>(
                        List.of(
                                "-proc:none",
                                "-nowarn",
                                "-d",
                                classes.toString(),
                                "-cp",
                                System.getProperty("java.class.path")));
        try (var changed = Files.walk(sources)) {
            changed.filter(Files::isRegularFile).map(Path::toString).forEach(args::add);
        }
        int failed =
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, args.toArray(String[]::new));
        if (failed != 0) {
            throw new IllegalStateException(name + " does not compile");
        }
        return classes;
    }

    /** Writes the changed sources, or fails if a text to replace is not there exactly once. */
    void plant(Path sources) throws IOException {
        for (Edit edit : edits) {
            Path changed = sources.resolve(edit.file());
            String source =
                    Files.readString(
                            Files.exists(changed) ? changed : SOURCES.resolve(edit.file()));
            if (!source.contains(edit.text())
                    || source.indexOf(edit.text()) != source.lastIndexOf(edit.text())) {
                throw new IllegalStateException(
                        "%s: the text to replace must be in %s exactly once: %s"
                                .formatted(name, edit.file(), edit.text()));
            }
            Files.createDirectories(changed.getParent());
            Files.writeString(changed, source.replace(edit.text(), edit.instead()));
        }
    }
}
