package io.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.OnlyOnce;
import io.onlyonce.Schema;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Every {@code java} block of README, docs and package descriptions is compiled in its harness and
 * run on a real PostgreSQL. A block without a place in a harness is red, and so is a place without
 * its block; docs/testing.md says how to write one.
 */
class SnippetsTest {

    @Test
    void every_harness_belongs_to_a_document() throws Exception {
        assertThat(Page.harnesses())
                .containsExactlyInAnyOrderElementsOf(
                        Page.all().stream().map(Page::harness).toList());
    }

    @Test
    void every_exported_package_begins_with_an_example() throws Exception {
        List<String> packages =
                Files.readAllLines(Path.of("src/main/java/module-info.java")).stream()
                        .filter(line -> line.strip().startsWith("exports "))
                        .map(line -> line.strip().replaceAll("exports .*?(\\w+);", "javadoc.$1"))
                        .toList();
        assertThat(packages).hasSizeGreaterThan(8);
        assertThat(Page.all()).extracting(Page::className).containsAll(packages);
    }

    @TestFactory
    List<DynamicTest> what_the_documentation_shows_compiles_and_does_what_it_says(
            @TempDir Path classes) throws Exception {
        List<Page> pages = new ArrayList<>(Page.all());
        pages.remove(Page.frameworks());
        return tests(pages, classes);
    }

    static List<DynamicTest> tests(List<Page> pages, Path classes) throws Exception {
        List<Generated> sources = new ArrayList<>();
        for (Page page : pages) {
            sources.add(Generated.from(page));
        }
        Generated.compile(sources, classes);

        List<DynamicTest> tests = new ArrayList<>();
        var loader =
                new URLClassLoader(
                        new URL[] {classes.toUri().toURL()}, SnippetsTest.class.getClassLoader());
        for (Page page : pages) {
            Class<?> harness = loader.loadClass(page.className());
            tests.add(DynamicTest.dynamicTest(page.path().toString(), () -> run(harness)));
        }
        return tests;
    }

    private static void run(Class<?> harness) throws Exception {
        List<Method> methods =
                Arrays.stream(harness.getDeclaredMethods())
                        .filter(m -> Modifier.isPublic(m.getModifiers()) && !m.isSynthetic())
                        .sorted(Comparator.comparing(Method::getName))
                        .toList();
        assertThat(methods).as("public methods of the harness").isNotEmpty();
        // Libraries that look classes up by name look here.
        Thread.currentThread().setContextClassLoader(harness.getClassLoader());
        try (var db = TestDatabase.postgres()) {
            var pool = db.pool(8);
            Schema.apply(pool);
            var once = OnlyOnce.on(pool).withTtl(Duration.ofDays(7)).build();
            for (Method method : methods) {
                var instance = (Harness) harness.getDeclaredConstructor().newInstance();
                instance.stand(db, pool, once);
                try {
                    method.invoke(instance);
                } catch (InvocationTargetException e) {
                    throw new AssertionError(
                            harness.getName() + "." + method.getName(), e.getCause());
                }
            }
        } finally {
            Thread.currentThread().setContextClassLoader(SnippetsTest.class.getClassLoader());
        }
    }
}
