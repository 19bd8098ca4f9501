package io.onlyonce.payload;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.UnaryOperator;

/** Stores less of the results of one type. */
final class MinimisingCodec<R> implements ResultCodec {

    private final ResultCodec codec;
    private final Class<R> minimisedType;
    private final UnaryOperator<R> minimised;

    MinimisingCodec(ResultCodec codec, Class<R> minimisedType, UnaryOperator<R> minimised) {
        this.codec = codec;
        this.minimisedType = Objects.requireNonNull(minimisedType, "type");
        this.minimised = Objects.requireNonNull(minimised, "minimised");
    }

    @Override
    @SuppressWarnings("unchecked") // R and T are the same class
    public <T> Encoded encode(@Nullable T value, ResultType<T> type) {
        boolean isOfType = value != null && type.rawClass() == minimisedType;
        return codec.encode(isOfType ? (T) minimised.apply((R) value) : value, type);
    }

    @Override
    public <T> @Nullable T decode(Encoded stored, ResultType<T> type) {
        return codec.decode(stored, type);
    }
}
