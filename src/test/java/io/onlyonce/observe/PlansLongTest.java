package io.onlyonce.observe;

import org.junit.jupiter.api.Tag;

/** The same on ten million commands, and 7.6 million rows of the other tables. */
@Tag("long")
class PlansLongTest extends PlansTest {

    @Override
    long rows() {
        return 10_000_000;
    }
}
