package io.onlyonce.ground;

import java.util.List;

/**
 * What a client sent before it waits: the bytes, the SQL they execute, and how many ReadyForQuery
 * answer them.
 *
 * <p>Often more than one: pgjdbc sends BEGIN as a Query of its own in front of the first statement,
 * in the same write.
 */
record Flight(byte[] bytes, List<String> statements, int answers) {

    boolean roundTrip() {
        return answers > 0;
    }
}
