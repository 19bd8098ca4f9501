package io.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.sql.SQLException;

class SqlStateTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "08000", "08003", "08006", "08P01", "08S01", "40003", "57P01", "57P02", "57P03",
                "57P04", "57P05", "25P03", "25P04", "99999", "60000", "HYT00", "HY000", "90098",
                "IM001", "S1000", "", "4000", "400011"
            })
    void these_leave_a_commit_unknown(String state) {
        assertThat(SqlState.isDefinite(new SQLException("x", state))).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "40001", "40P01", "40002", "23503", "23505", "25P02", "57014", "P0001", "OO001",
                "MY123"
            })
    void these_are_the_servers_own_no(String state) {
        assertThat(SqlState.isDefinite(new SQLException("x", state))).isTrue();
    }

    @Test
    void whatever_is_not_an_sql_exception_with_a_state_leaves_it_unknown() {
        assertThat(SqlState.isDefinite(new SQLException("x"))).isFalse();
        assertThat(SqlState.isDefinite(new IOException("x", new SQLException("x", "40001"))))
                .isFalse();
        assertThat(SqlState.isDefinite(new OutOfMemoryError())).isFalse();
    }

    @Test
    void causes_and_next_exceptions_are_searched_and_cycles_end() {
        var deep = new SQLException("deep", "40001");
        var batch = new SQLException("batch", "00000");
        batch.setNextException(new SQLException("next", "23505", deep));
        deep.initCause(new IllegalStateException(batch)); // a cycle

        assertThat(SqlState.isRetryable(new RuntimeException(batch))).isTrue();
        assertThat(SqlState.is("23505", batch)).isTrue();
        assertThat(SqlState.is("42601", batch)).isFalse();
        assertThat(SqlState.isRetryable(new SQLException("x", "40P01"))).isTrue();
        assertThat(SqlState.isRetryable(new SQLException("x", "40003"))).isFalse();
        assertThat(SqlState.isRetryable(new RuntimeException())).isFalse();
    }
}
