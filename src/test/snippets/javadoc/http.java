package javadoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.onlyonce.docs.Harness;
import io.onlyonce.http.*;
import java.sql.*;
import java.util.*;

public class http extends Harness {

    static class Cases {
        String approve(Connection connection, String caseId) {
            return "{}";
        }
    }

    public void example() throws Exception {
        var cases = new Cases();
        Map<String, List<String>> headers = Map.of("Idempotency-Key", List.of("\"k-1\""));
        String tenant = "acme", caller = "ui", caseId = "7", contentType = "application/json";
        byte[] body = bytes("{}");
        //> example
        assertThat(response.status()).isEqualTo(201);
    }
}
