package io.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.Checkpoint;
import io.onlyonce.ground.ChildJvm;
import io.onlyonce.ground.DataSources;
import io.onlyonce.ground.TestDatabase;

import org.junit.jupiter.api.Test;

import java.sql.SQLException;
import java.time.Duration;

class SchemaOnPostgresTest extends SchemaContract {

    SchemaOnPostgresTest() {
        super(TestDatabase::postgres);
    }

    @Test
    void two_processes_that_apply_at_the_same_moment_leave_one_schema() throws Exception {
        try (ChildJvm one = ChildJvm.start(Applying.class, db.url(), db.user(), db.password());
                ChildJvm two = ChildJvm.start(Applying.class, db.url(), db.user(), db.password())) {
            for (int round = 1; round <= 20; round++) {
                one.awaitCheckpoint("apply-" + round);
                two.awaitCheckpoint("apply-" + round);
                one.proceed();
                two.proceed();
            }
            assertThat(one.exitCode(Duration.ofSeconds(30))).isZero();
            assertThat(two.exitCode(Duration.ofSeconds(30))).isZero();
        }
        for (int round = 1; round <= 20; round++) {
            assertThat(db.count("SELECT COUNT(*) FROM moment_" + round + ".schema_version"))
                    .isEqualTo(1);
        }
    }

    /** Applies schema after schema, each when the parent says so. */
    static final class Applying {
        public static void main(String[] args) throws Exception {
            var dataSource = DataSources.unpooled(args[0], args[1], args[2]);
            for (int round = 1; round <= 20; round++) {
                Checkpoint.reached("apply-" + round);
                Schema.apply(dataSource, "moment_" + round);
                Schema.verify(dataSource, "moment_" + round);
            }
        }
    }

    @Test
    void our_own_sqlstates_can_be_raised_from_sql() throws Exception {
        Schema.apply(db.dataSource());

        assertThatThrownBy(() -> db.count("SELECT onlyonce.refuse('OO001', 'no')"))
                .satisfies(e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("OO001"));
        assertThat(
                        db.count(
                                "SELECT CASE WHEN now() IS NULL THEN onlyonce.refuse('OO001',"
                                        + " 'no')::int ELSE 1 END"))
                .as("not while planning")
                .isEqualTo(1);
    }

    @Test
    void a_half_applied_file_leaves_nothing() throws Exception {
        db.execute("CREATE SCHEMA half; CREATE TABLE half.inbox_message (id INT)");

        assertThatThrownBy(() -> Schema.apply(db.dataSource(), "half"))
                .isInstanceOf(SQLException.class);

        assertThat(
                        db.count(
                                "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema"
                                        + " = 'half'"))
                .isEqualTo(1);
    }

    @Test
    void results_are_compressed_with_lz4_where_the_server_can() throws Exception {
        Schema.apply(db.dataSource());

        assertThat(
                        db.value(
                                "SELECT attcompression::text FROM pg_attribute WHERE attrelid ="
                                    + " 'onlyonce.command_dedup'::regclass AND attname = 'result'",
                                String.class))
                .hasValueSatisfying(compression -> assertThat(compression).isIn("l", ""));
    }
}
