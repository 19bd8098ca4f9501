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

    @Test
    void a_schema_made_by_somebody_else_is_enough_to_apply_into() throws Exception {
        db.execute(
                "DROP ROLE IF EXISTS app_of_somebody; CREATE ROLE app_of_somebody LOGIN PASSWORD"
                        + " 'x'; CREATE SCHEMA given AUTHORIZATION app_of_somebody");
        try {
            var theirs = DataSources.unpooled(db.url(), "app_of_somebody", "x");
            Schema.apply(theirs, "given");
            Schema.verify(theirs, "given");
        } finally {
            db.execute("DROP OWNED BY app_of_somebody CASCADE; DROP ROLE app_of_somebody");
        }
    }

    @Test
    void verify_misses_the_function_and_looks_at_exact_names() throws Exception {
        Schema.apply(db.dataSource(), "v1_less");
        db.execute("DROP FUNCTION v1_less.refuse(text, text)");
        assertThatThrownBy(() -> Schema.verify(db.dataSource(), "v1_less"))
                .isInstanceOf(SchemaOutdatedException.class)
                .hasMessageContaining("refuse()");

        Schema.apply(db.dataSource(), "v1_case");
        db.execute("ALTER TABLE v1_case.command_dedup RENAME TO \"Command_Dedup\"");
        assertThatThrownBy(() -> Schema.verify(db.dataSource(), "v1_case"))
                .isInstanceOf(SchemaOutdatedException.class)
                .hasMessageContaining("command_dedup");
    }

    @Test
    void defaults_and_checks_bind_to_the_servers_own_functions() throws Exception {
        db.execute(
                "CREATE SCHEMA evil; CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS"
                        + " $$ SELECT 'epoch'::timestamptz $$");
        var pool =
                db.pool(
                        1,
                        c -> c.setConnectionInitSql("SET search_path = evil, pg_catalog, public"));
        Schema.apply(pool, "bound");

        assertThat(
                        db.count(
                                "SELECT count(*) FROM information_schema.columns WHERE table_schema"
                                        + " = 'bound' AND column_default LIKE '%evil%'"))
                .isZero();
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
