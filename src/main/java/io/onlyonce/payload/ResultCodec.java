package io.onlyonce.payload;

import com.fasterxml.jackson.databind.ObjectMapper;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.UnaryOperator;

/**
 * Turns what a work returns into bytes that are stored, and back when the command is replayed.
 *
 * <p>Implementations must be safe for any thread, must decode whatever they ever encoded, and must
 * not quote content in what they throw.
 */
public interface ResultCodec {

    /**
     * The bytes to store for a result, with the tag that says how to read them.
     *
     * @throws ResultNotEncodableException if that cannot be done; the command then rolls back
     */
    <T> Encoded encode(@Nullable T value, ResultType<T> type);

    /**
     * The result that was stored; null if null was.
     *
     * @throws StoredResultUnreadableException if the tag is unknown or the bytes do not fit the
     *     type
     */
    <T> @Nullable T decode(Encoded stored, ResultType<T> type);

    /**
     * The default: {@code byte[]} as it is (tag {@code bytes}), {@code String} as UTF-8 (tag {@code
     * text}), null as nothing (tag {@code null}), everything else as JSON (tag {@code json}).
     *
     * <p>JSON reads and writes records, beans, {@code Optional}, generics, and {@code java.time}
     * and {@code java.sql} times as ISO-8601 text; numbers without a declared type keep all digits;
     * properties that are unknown or missing when read are tolerated, so that a type may grow and
     * shrink. Each result is read back once before it is stored, so one that could not be replayed
     * is refused while the command can still roll back.
     */
    static ResultCodec json() {
        return new JsonResultCodec(JsonResultCodec.defaultMapper());
    }

    /**
     * Like {@link #json()}, with a copy of the user's own mapper and only its modules and settings.
     */
    static ResultCodec json(ObjectMapper mapper) {
        return new JsonResultCodec(mapper.copy());
    }

    /**
     * Like this codec, except that of a result of this type only what {@code minimised} leaves is
     * stored. Whoever runs the command gets the whole result, and every repetition what was left:
     * for what must not be kept, like a one-time secret or personal data that nobody asks for
     * twice.
     *
     * @param minimised must be safe for any thread
     */
    default <R> ResultCodec minimising(Class<R> type, UnaryOperator<R> minimised) {
        return new MinimisingCodec<>(this, type, minimised);
    }

    /**
     * A result as it is stored; equal if tag and bytes are.
     *
     * @param tag 1 to 64 printable ASCII characters that name the format
     * @param bytes the content, handed over rather than copied
     */
    @SuppressWarnings("ArrayRecordComponent") // equality below looks into the array
    record Encoded(String tag, byte[] bytes) {

        /** Refuses a tag that could not be stored. */
        public Encoded {
            if (!isPlain(tag)) {
                throw new IllegalArgumentException(
                        "A content tag must be 1 to 64 printable ASCII characters");
            }
        }

        private static boolean isPlain(String tag) {
            return !tag.isEmpty()
                    && tag.length() <= 64
                    && tag.chars().allMatch(c -> c > ' ' && c <= '~');
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Encoded that
                    && tag.equals(that.tag)
                    && Arrays.equals(bytes, that.bytes);
        }

        @Override
        public int hashCode() {
            return 31 * tag.hashCode() + Arrays.hashCode(bytes);
        }

        /** The tag and the length, never the content. */
        @Override
        public String toString() {
            return "Encoded[" + tag + ", " + bytes.length + " bytes]";
        }
    }
}
