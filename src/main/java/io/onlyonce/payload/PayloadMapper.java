package io.onlyonce.payload;

import static io.onlyonce.payload.InvalidPayloadException.Reason.EMPTY;
import static io.onlyonce.payload.InvalidPayloadException.Reason.NOT_SERIALIZABLE;
import static io.onlyonce.payload.InvalidPayloadException.Reason.TOO_DEEP;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.util.Locale;
import java.util.TimeZone;

/** Objects as JSON text under one fixed configuration, within limits that also end cycles. */
final class PayloadMapper {

    private static final ObjectMapper MAPPER =
            JsonMapper.builder()
                    .addModule(new TimeModule())
                    .addModule(new OptionalModule())
                    .addModule(new PayloadModule())
                    // Neither the machine's settings nor the order of reflection may show.
                    .defaultLocale(Locale.ROOT)
                    .defaultTimeZone(TimeZone.getTimeZone("UTC"))
                    .enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                    .build();

    private PayloadMapper() {}

    static String write(Object value, JsonLimits limits) {
        if (value instanceof JsonNode tree && tree.isMissingNode()) {
            throw new InvalidPayloadException(EMPTY); // Jackson would write null
        }
        var text = new BoundedWriter(limits.bytes());
        try (var generator = new PayloadGenerator(MAPPER, text, limits, 0)) {
            MAPPER.writeValue(generator, value);
        } catch (IOException e) { // Jackson's own, or a serializer's
            throw refusal(e);
        } catch (StackOverflowError e) { // references around in a circle open no array or object
            throw new InvalidPayloadException(TOO_DEEP, "references to each other without end");
        }
        return text.toString();
    }

    /**
     * Our own refusals come back wrapped; Jackson's message and causes may quote the payload and
     * stay behind.
     */
    private static InvalidPayloadException refusal(IOException failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InvalidPayloadException refusal) {
                return refusal;
            }
        }
        return new InvalidPayloadException(NOT_SERIALIZABLE, failure.getClass().getSimpleName());
    }
}
