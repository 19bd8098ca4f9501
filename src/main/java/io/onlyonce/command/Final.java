package io.onlyonce.command;

import io.onlyonce.payload.ResultCodec;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;

/** How a command ends: with a result or with a rejection, whose detail is stored as its result. */
record Final(int status, ResultCodec.Encoded result, @Nullable String rejectionCode) {

    static Final completed(ResultCodec.Encoded result) {
        return new Final(StoredRow.COMPLETED, result, null);
    }

    static Final rejected(Rejection rejection) {
        byte[] detail = rejection.detail().getBytes(StandardCharsets.UTF_8);
        return new Final(
                StoredRow.REJECTED, new ResultCodec.Encoded("rejection", detail), rejection.code());
    }
}
