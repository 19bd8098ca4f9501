/**
 * What a command carries and what it leaves behind: payload hashes and stored results.
 *
 * <pre>{@code
 * PayloadHash hash = PayloadHash.ofJson(requestBody);              // key order, whitespace, 1 or 1.0: the same hash
 * boolean same = hash.matches(row.hashVersion(), row.hash());      // compared by the row's own algorithm
 *
 * ResultCodec codec = ResultCodec.json();
 * var type = new ResultType<List<Approval>>() {};
 * ResultCodec.Encoded stored = codec.encode(approvals, type);      // tag "json" and bytes
 * List<Approval> replayed = codec.decode(stored, type);
 * }</pre>
 */
@NullMarked
package io.onlyonce.payload;

import org.jspecify.annotations.NullMarked;
