package io.onlyonce.command;

import io.onlyonce.payload.ResultCodec;
import io.onlyonce.payload.ResultType;
import io.onlyonce.sql.Names;

import org.jspecify.annotations.Nullable;

import java.util.function.Function;

/** What an operator found out about a command that was started and never completed. */
public final class Resolution {

    private final boolean released;
    private final @Nullable Function<ResultCodec, ResultCodec.Encoded> result;

    private Resolution(
            boolean released, @Nullable Function<ResultCodec, ResultCodec.Encoded> result) {
        this.released = released;
        this.result = result;
    }

    /** Its effect is there: replay this result from now on. */
    @SuppressWarnings("unchecked") // an object is an instance of its own class
    public static Resolution completed(Object result) {
        return completed(result, ResultType.of((Class<Object>) result.getClass()));
    }

    /** The same for a result of a generic type. */
    public static <T> Resolution completed(@Nullable T result, ResultType<T> type) {
        return new Resolution(false, codec -> codec.encode(result, type));
    }

    /** Its effect is there, its result is not known; replays say so. */
    public static Resolution completedWithoutResult() {
        return new Resolution(false, null);
    }

    /** Its effect is not there: the id is free again. The archive keeps who said so, and why. */
    public static Resolution released() {
        return new Resolution(true, null);
    }

    Settled settled(ResultCodec codec, String who, String why) {
        ResultCodec.Encoded encoded = result == null ? null : result.apply(codec);
        return new Settled(
                released,
                encoded == null ? null : encoded.tag(),
                encoded == null ? null : encoded.bytes(),
                null,
                null,
                Names.require(who, "who", 128),
                Names.require(why, "why", 1000));
    }

    /** What is written. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Settled(
            boolean released,
            @Nullable String tag,
            byte @Nullable [] bytes,
            @Nullable String keyId,
            byte @Nullable [] hash,
            String who,
            String why) {

        /** With what the row's key makes of it. */
        Settled under(@Nullable String keyId, byte[] hash, byte @Nullable [] bytes) {
            return new Settled(released, tag, bytes, keyId, hash, who, why);
        }
    }
}
