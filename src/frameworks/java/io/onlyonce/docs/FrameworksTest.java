package io.onlyonce.docs;

import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** The page about frameworks, with the real ones. */
class FrameworksTest {

    @TestFactory
    List<DynamicTest> what_the_page_shows_holds_inside_the_real_libraries(@TempDir Path classes)
            throws Exception {
        return SnippetsTest.tests(List.of(Page.frameworks()), classes);
    }
}
