package io.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.sql.Connection;

class SchemaOnH2Test extends SchemaContract {

    SchemaOnH2Test() {
        super(TestDatabase::h2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE", "MODE=PostgreSQL", "MODE=Oracle"})
    void it_applies_in_the_modes_that_unit_tests_use(String mode) throws Exception {
        String url = "jdbc:h2:mem:modes;" + mode;
        try (Connection open = DataSources.unpooled(url, "sa", "").getConnection()) {
            Schema.apply(DataSources.unpooled(url, "sa", ""));
            Schema.verify(DataSources.unpooled(url, "sa", ""));
            assertThat(open.isValid(1)).isTrue();
        }
    }

    @Test
    void verify_misses_the_table_of_locks() throws Exception {
        Schema.apply(db.dataSource(), "v1_less");
        db.execute("DROP TABLE v1_less.lock_stripe");

        assertThatThrownBy(() -> Schema.verify(db.dataSource(), "v1_less"))
                .isInstanceOf(SchemaOutdatedException.class)
                .hasMessageContaining("lock_stripe");
    }
}
