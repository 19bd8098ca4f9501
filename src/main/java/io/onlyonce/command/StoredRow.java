package io.onlyonce.command;

import io.onlyonce.payload.ResultCodec;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.time.OffsetDateTime;

/**
 * A row of {@code command_dedup} as a claim sees it.
 *
 * @param own true if this very transaction wrote it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StoredRow(
        int status,
        int hashVersion,
        byte[] hash,
        @Nullable String contentTag,
        byte @Nullable [] result,
        @Nullable String rejectionCode,
        OffsetDateTime startedAt,
        boolean own,
        boolean expired,
        boolean forgotten) {

    static final int STARTED = 0;
    static final int COMPLETED = 1;
    static final int REJECTED = 2;
    static final int RESOLVED = 3;

    ResultCodec.@Nullable Encoded encoded() {
        return contentTag == null || result == null
                ? null
                : new ResultCodec.Encoded(contentTag, result);
    }

    Rejection rejection() {
        String code = rejectionCode == null ? "" : rejectionCode;
        return new Rejection(
                code, result == null ? "" : new String(result, StandardCharsets.UTF_8));
    }
}
