package io.onlyonce.ground;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.sql.SQLException;

abstract class TestDatabaseContract extends DatabaseContract {

    private final Opening opening;

    TestDatabaseContract(Opening opening) {
        super(opening);
        this.opening = opening;
    }

    @Test
    void each_database_is_fresh() throws Exception {
        db.execute("CREATE TABLE mine (id INT)");

        try (TestDatabase other = opening.open()) {
            other.execute("CREATE TABLE mine (id INT)");
            assertThat(other.url()).isNotEqualTo(db.url());
        }
    }

    @Test
    void values_come_from_the_first_column_of_the_first_row() throws Exception {
        assertThat(db.count("SELECT 42")).isEqualTo(42);
        assertThat(db.value("SELECT 'text'", String.class)).contains("text");
        assertThat(db.value("SELECT 1 WHERE 1 = 0", Integer.class)).isEmpty();
        assertThat(db.value("SELECT CAST(NULL AS INT)", Integer.class)).isEmpty();
    }

    @Test
    void a_closed_database_is_gone_with_its_pools_and_left_over_connections() throws Exception {
        TestDatabase closing = opening.open();
        closing.execute("CREATE TABLE kept (id INT)");
        var pool = closing.pool(2);
        var leftOver = closing.connect();

        closing.close();

        assertThat(pool.isClosed()).isTrue();
        assertThat(leftOver.isValid(5)).isFalse();
        assertThatThrownBy(() -> closing.count("SELECT COUNT(*) FROM kept"))
                .isInstanceOf(SQLException.class);
    }

    @Test
    void a_connection_never_given_back_fails_the_close() throws Exception {
        TestDatabase closing = opening.open();
        var forgotten = closing.pool(2).getConnection();

        assertThatThrownBy(closing::close)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("never given back");
        assertThat(forgotten.isValid(5)).isFalse();
    }
}
