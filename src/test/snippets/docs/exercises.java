package docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.onlyonce.command.*;
import io.onlyonce.docs.Harness;
import io.onlyonce.outbox.*;
import io.onlyonce.payload.*;
import java.sql.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;

public class exercises extends Harness {

    //> The command

    //> A scope

    //> Two at once

    private void begin() throws Exception {
        tables("docs/exercises.md");
        db.execute("INSERT INTO officer VALUES ('eve', 0), ('tom', 20)");
    }

    public void mini_lab() throws Exception {
        begin();
        assertThat(assign("c-1", "case-1", "eve", "nearest").replayed()).isFalse();
        assertThat(assign("c-1", "case-1", "eve", "nearest")).isEqualTo(new Outcome<>(new Assigned("case-1", "eve"), true));
        assertThatThrownBy(() -> assign("c-1", "case-1", "tom", "nearest")).isInstanceOf(PayloadMismatchException.class);
        refused("HAS_OFFICER", false, "c-2", "case-1", "eve");
        refused("OFFICER_BUSY", false, "c-3", "case-3", "tom");
        db.execute("UPDATE officer SET active = 0 WHERE id = 'tom'");
        refused("OFFICER_BUSY", true, "c-3", "case-3", "tom");
        assertThat(db.count("SELECT active FROM officer WHERE id = 'eve'")).isEqualTo(1);
        assertThat(db.value("SELECT string_agg(command_id || ' ' || action, ', ' ORDER BY 1) FROM assignment_audit", String.class))
                .contains("c-1 ASSIGNED, c-2 REFUSED_HAS_OFFICER, c-3 REFUSED_OFFICER_BUSY");
        assertThat(published()).extracting(OutboxEvent::key).containsExactly("assigned:c-1");
    }

    private void refused(String code, boolean replayed, String id, String caseId, String officer) {
        assertThatThrownBy(() -> assign(id, caseId, officer, "nearest"))
                .isInstanceOfSatisfying(CommandRejectedException.class, no -> {
                    assertThat(no.code()).isEqualTo(code);
                    assertThat(no.replayed()).isEqualTo(replayed);
                });
    }

    public void two() throws Exception {
        begin();
        two_copies_have_one_effect();
    }

    public void scope() throws Exception {
        Command first = decision("acme", "ui", "7", "k", bytes("{\"a\": 1, \"b\": 2}"));
        assertThat(decision("acme", "ui", "7", "k", bytes("{\"b\":2,\"a\":1.0}")).hash()).isEqualTo(first.hash());
        assertThat(decision("acme", "ui", "8", "k", bytes("{\"a\": 1, \"b\": 2}")).hash()).isNotEqualTo(first.hash());
    }
}
