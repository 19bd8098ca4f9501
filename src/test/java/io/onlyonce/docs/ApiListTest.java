package io.onlyonce.docs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.nio.file.Files;

/** A change of the public surface is seen in the commit that makes it. */
class ApiListTest {

    @Test
    void the_public_surface_is_the_one_that_is_listed() throws Exception {
        assertThat(String.join("\n", ApiList.lines()) + "\n")
                .as("docs/api.txt; if the change is meant, write it with: gradlew apiList")
                .isEqualTo(Files.readString(ApiList.FILE).replace("\r\n", "\n"));
    }
}
