package io.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.ground.DatabaseContract;
import io.onlyonce.ground.Race;

import org.junit.jupiter.api.Test;

import java.sql.SQLException;

/** What applying and verifying the schema promises on every database. */
abstract class SchemaContract extends DatabaseContract {

    SchemaContract(Opening opening) {
        super(opening);
    }

    @Test
    void nothing_is_there_until_asked_for_and_the_error_says_what_to_do() {
        assertThatThrownBy(() -> Schema.verify(db.dataSource(), "nowhere"))
                .isInstanceOf(SchemaOutdatedException.class)
                .hasMessageContaining("schema nowhere does not exist")
                .hasMessageContaining("Schema.apply");
    }

    @Test
    void applied_again_it_changes_nothing() throws Exception {
        Schema.apply(db.dataSource());
        db.execute(
                "INSERT INTO onlyonce.projection_version (version, aggregate_id, aggregate_type,"
                        + " tenant, projection) VALUES (1, 'a', 't', 'x', 'p')");

        Schema.apply(db.dataSource());

        assertThatCode(() -> Schema.verify(db.dataSource())).doesNotThrowAnyException();
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.projection_version")).isEqualTo(1);
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.outbox_lease")).isEqualTo(64);
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.schema_version")).isEqualTo(1);
    }

    @Test
    void it_goes_by_another_name_beside_the_first() throws Exception {
        Schema.apply(db.dataSource(), "onlyonce");
        Schema.apply(db.dataSource(), "other_1");

        assertThatCode(() -> Schema.verify(db.dataSource(), "other_1")).doesNotThrowAnyException();
        assertThat(db.count("SELECT COUNT(*) FROM other_1.outbox_lease")).isEqualTo(64);
    }

    @Test
    void names_that_would_need_quoting_are_refused() {
        for (String name :
                new String[] {
                    "", "Upper", "a-b", "a b", "1a", "a;drop", "pg_mine", "x".repeat(64)
                }) {
            assertThatThrownBy(() -> Schema.apply(db.dataSource(), name))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("lower-case");
        }
    }

    @Test
    void callers_that_apply_at_once_leave_one_schema() throws Exception {
        for (int round = 0; round < 20; round++) {
            String name = "race_" + round;
            Race.of(
                    4,
                    () -> {
                        Schema.apply(db.dataSource(), name);
                        return true;
                    });
            assertThat(db.count("SELECT COUNT(*) FROM " + name + ".schema_version")).isEqualTo(1);
            assertThat(db.count("SELECT COUNT(*) FROM " + name + ".outbox_lease")).isEqualTo(64);
        }
    }

    @Test
    void a_dropped_table_is_named() throws Exception {
        Schema.apply(db.dataSource(), "holes");
        db.execute("DROP TABLE holes.inbox_message");
        db.execute("DROP TABLE holes.key_budget");

        assertThatThrownBy(() -> Schema.verify(db.dataSource(), "holes"))
                .isInstanceOf(SchemaOutdatedException.class)
                .hasMessageContaining("lacks inbox_message, key_budget");
    }

    @Test
    void an_old_version_is_too_old() throws Exception {
        Schema.apply(db.dataSource(), "old");
        db.execute("UPDATE old.schema_version SET version = -1");

        assertThatThrownBy(() -> Schema.verify(db.dataSource(), "old"))
                .hasMessageContaining("is at version -1, and version 1 is needed");
    }

    @Test
    void rows_that_break_an_invariant_are_refused_by_the_table() throws Exception {
        Schema.apply(db.dataSource());
        String columns =
                "INSERT INTO onlyonce.command_dedup (started_at, finished_at, expires_at,"
                        + " forget_at, status, hash_version, command_id, operation, caller, tenant,"
                        + " payload_hash, rejection_code) VALUES ";
        String now = "CURRENT_TIMESTAMP";
        String hash =
                db.isPostgres() ? "decode(repeat('00', 32), 'hex')" : "X'" + "00".repeat(32) + "'";
        String times = now + ", " + now + ", " + now;

        db.execute(
                columns
                        + "("
                        + now
                        + ", "
                        + times
                        + ", 1, 1, 'id Qx7Zq', 'op', 'c', 't', "
                        + hash
                        + ", NULL)");
        for (String bad :
                new String[] {
                    "("
                            + now
                            + ", "
                            + times
                            + ", 0, 1, 'a', 'op', 'c', 't', "
                            + hash
                            + ", NULL)", // started, finished
                    "("
                            + now
                            + ", NULL, "
                            + now
                            + ", "
                            + now
                            + ", 1, 1, 'b', 'op', 'c', 't', "
                            + hash
                            + ", NULL)",
                    "("
                            + now
                            + ", "
                            + times
                            + ", 2, 1, 'c', 'op', 'c', 't', "
                            + hash
                            + ", NULL)", // no code
                    "(" + now + ", " + times + ", 9, 1, 'd', 'op', 'c', 't', " + hash + ", NULL)",
                    "(" + now + ", " + times + ", 1, 1, '', 'op', 'c', 't', " + hash + ", NULL)",
                    "("
                            + now
                            + ", "
                            + times
                            + ", 1, 1, '"
                            + "x".repeat(256)
                            + "', 'op', 'c', 't', "
                            + hash
                            + ", NULL)",
                }) {
            assertThatThrownBy(() -> db.execute(columns + bad))
                    .as(bad)
                    .isInstanceOf(SQLException.class);
        }
        assertThat(db.count("SELECT COUNT(*) FROM onlyonce.command_dedup")).isEqualTo(1);
    }
}
