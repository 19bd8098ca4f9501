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
        story.post("approve a case: 201", APPROVAL, "approve-1", OK);
        story.post("again: the same answer, Idempotency-Replayed: true", APPROVAL, "approve-1", OK);
        story.post(
                "another reason under the same key: 422",
                APPROVAL,
                "approve-1",
                "{\"reason\":\"other\"}");
        story.post("another key: a second approval, 409", APPROVAL, "approve-2", OK);
        story.post("without a key: 400", APPROVAL, "", OK);
        story.post("a closed case: 409", "/cases/CASE-9/approvals", "approve-9", OK);
        story.post(
                "a primary officer: 201",
                "/cases/CASE-2/primary-officer",
                "assign-1",
                "{\"officerId\":\"OFF-1\",\"reason\":\"local\"}");
        story.post(
                "an officer with 20 cases: 409, now and in every repetition",
                "/cases/CASE-3/primary-officer",
                "assign-2",
                "{\"officerId\":\"OFF-20\",\"reason\":\"local\"}");
        story.post(
                "escalate version 1 of a case: 201",
                "/cases/CASE-4/escalations",
                "escalate-1",
                "{\"reason\":\"overdue\",\"caseVersion\":1}");
        story.post(
                "the same version again under another key: 409",
                "/cases/CASE-4/escalations",
                "escalate-2",
                "{\"reason\":\"overdue\",\"caseVersion\":1}");
        story.get("where a request stands", "/status/case.assign-primary-officer/assign-1");
        story.get("what became of the case", "/cases/CASE-1");
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
