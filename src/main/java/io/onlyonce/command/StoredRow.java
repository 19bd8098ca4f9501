package io.onlyonce.command;

import org.jspecify.annotations.Nullable;

import java.time.OffsetDateTime;

/**
 * A row of {@code command_dedup} as a claim sees it.
 *
 * @param keyId the key that hash and result are under; null if they are in clear
 * @param own true if this very transaction wrote it
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record StoredRow(
        int status,
        int hashVersion,
        byte[] hash,
        @Nullable String contentTag,
        @Nullable String keyId,
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
}
