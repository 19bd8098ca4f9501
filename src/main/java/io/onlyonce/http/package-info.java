/**
 * The {@code Idempotency-Key} contract of an HTTP endpoint, without a server: request parts in, a
 * response to send out.
 *
 * <pre>{@code
 * HttpIdempotency http = HttpIdempotency.on(once);
 * HttpOperation approve = HttpOperation.of("case.approve", "POST", "/cases/{caseId}/approvals");
 *
 * StoredResponse response = http.handle(approve,
 *     RequestParts.of(tenant, caller).withKey(headers.get("Idempotency-Key"))
 *         .withPath("caseId", caseId).withBody(contentType, body),
 *     work -> StoredResponse.of(201).withJson(cases.approve(work.connection(), caseId)));
 * }</pre>
 */
@NullMarked
package io.onlyonce.http;

import org.jspecify.annotations.NullMarked;
