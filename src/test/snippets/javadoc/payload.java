package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.payload.*;
import java.util.*;

public class payload extends Harness {

    record Approval(String caseId) {}

    record Row(int hashVersion, byte[] hash) {}

    public void example() throws Exception {
        byte[] requestBody = bytes("{\"b\": 1.0, \"a\": 2}");
        var before = PayloadHash.ofJson("{\"a\":2,\"b\":1}");
        var row = new Row(before.currentVersion(), before.bytes(before.currentVersion()));
        List<Approval> approvals = List.of(new Approval("7"));
        //> example
        assertThat(same).isTrue();
        assertThat(replayed).isEqualTo(approvals);
    }
}
