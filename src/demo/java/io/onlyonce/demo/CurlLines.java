package io.onlyonce.demo;

import java.util.ArrayList;
import java.util.List;

/** Requests to try, as a shell understands them; in this order they tell a story. */
final class CurlLines {

    private static final String APPROVAL = "/cases/CASE-1/approvals";
    private static final String OK = "{\"reason\":\"complete\"}";

    private final String base;
    private final List<String> lines = new ArrayList<>();

    private CurlLines(String base) {
        this.base = base;
    }

    static List<String> of(int port) {
        var story = new CurlLines("http://127.0.0.1:" + port);
        story.post("201: approve a case", APPROVAL, "approve-1", OK);
        story.post(
                "201: again, the same answer with Idempotency-Replayed: true",
                APPROVAL,
                "approve-1",
                OK);
        story.post(
                "422: another reason under the same key",
                APPROVAL,
                "approve-1",
                "{\"reason\":\"other\"}");
        story.post("409: another key, so a second approval", APPROVAL, "approve-2", OK);
        story.post("400: without a key", APPROVAL, "", OK);
        story.post("409: a closed case", "/cases/CASE-9/approvals", "approve-9", OK);
        story.post(
                "201: a primary officer",
                "/cases/CASE-2/primary-officer",
                "assign-1",
                "{\"officerId\":\"OFF-1\",\"reason\":\"local\"}");
        story.post(
                "409: an officer with 20 cases, now and in every repetition",
                "/cases/CASE-3/primary-officer",
                "assign-2",
                "{\"officerId\":\"OFF-20\",\"reason\":\"local\"}");
        story.post(
                "201: escalate version 1 of a case",
                "/cases/CASE-4/escalations",
                "escalate-1",
                "{\"reason\":\"overdue\",\"caseVersion\":1}");
        story.post(
                "409: the same version again, under another key",
                "/cases/CASE-4/escalations",
                "escalate-2",
                "{\"reason\":\"overdue\",\"caseVersion\":1}");
        story.get("200: where a request stands", "/status/case.assign-primary-officer/assign-1");
        story.get("200: what became of the case", "/cases/CASE-1");
        return story.lines;
    }

    private void post(String what, String path, String key, String body) {
        String header = key.isEmpty() ? "" : " -H 'Idempotency-Key: \"" + key + "\"'";
        lines.add("# " + what);
        lines.add(
                curl()
                        + header
                        + " -H 'Content-Type: application/json' -d '"
                        + body
                        + "' "
                        + base
                        + path);
    }

    private void get(String what, String path) {
        lines.add("# " + what);
        lines.add(curl() + " " + base + path);
    }

    private static String curl() {
        return "curl -i -H 'Authorization: Bearer acme-portal'";
    }
}
