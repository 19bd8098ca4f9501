package io.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OnlyOnceExceptionTest {
    @Test
    void leaves_carry_their_cause() {
        var cause = new IllegalStateException();
        var leaf = new OnlyOnceException("m", cause) {};
        assertThat(leaf).hasCause(cause).hasMessage("m");
    }
}
