package io.onlyonce.outbox;

import io.onlyonce.sql.Names;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Something that happened to an aggregate, to be told to others once it is durable. Its key is its
 * identity within the tenant: the same key is the same event, however often it is appended.
 * Immutable; every {@code with} makes a copy.
 */
public final class OutboxEvent {

    private final String key;
    private final String aggregateType;
    private final String aggregateId;
    private final String type;
    private final byte[] payload;
    private final OptionalLong version;
    private final SortedMap<String, String> headers;
    private final @Nullable Delivery delivery;

    private OutboxEvent(
            String key,
            String aggregateType,
            String aggregateId,
            String type,
            byte[] payload,
            OptionalLong version,
            SortedMap<String, String> headers,
            @Nullable Delivery delivery) {
        this.key = key;
        this.aggregateType = aggregateType;
        this.aggregateId = aggregateId;
        this.type = type;
        this.payload = payload;
        this.version = version;
        this.headers = headers;
        this.delivery = delivery;
    }

    /** An event without version and headers; a copy of the payload is kept. */
    public static OutboxEvent of(
            String key, String aggregateType, String aggregateId, String type, byte[] payload) {
        return new OutboxEvent(
                Names.require(key, "event key", 255),
                Names.require(aggregateType, "aggregate type", 128),
                Names.require(aggregateId, "aggregate id", 255),
                Names.require(type, "event type", 128),
                payload.clone(),
                OptionalLong.empty(),
                new TreeMap<>(),
                null);
    }

    /** An event as the outbox has stored it. */
    static OutboxEvent stored(
            String key,
            String aggregateType,
            String aggregateId,
            String type,
            byte[] payload,
            OptionalLong version,
            SortedMap<String, String> headers,
            Delivery delivery) {
        return new OutboxEvent(
                key, aggregateType, aggregateId, type, payload, version, headers, delivery);
    }

    /** The version that the aggregate has after this event. */
    public OutboxEvent withVersion(long version) {
        if (version < 0) {
            throw new IllegalArgumentException("An aggregate version must not be negative.");
        }
        return new OutboxEvent(
                key,
                aggregateType,
                aggregateId,
                type,
                payload,
                OptionalLong.of(version),
                headers,
                delivery);
    }

    /** Travels with the event, for example a correlation id. */
    public OutboxEvent withHeader(String name, String value) {
        var more = new TreeMap<>(headers);
        more.put(Names.require(name, "header name", 128), Objects.requireNonNull(value, "value"));
        return new OutboxEvent(
                key, aggregateType, aggregateId, type, payload, version, more, delivery);
    }

    /** Its identity within the tenant. */
    public String key() {
        return key;
    }

    /** What kind of thing it happened to. */
    public String aggregateType() {
        return aggregateType;
    }

    /** Which of them. */
    public String aggregateId() {
        return aggregateId;
    }

    /** What happened. */
    public String type() {
        return type;
    }

    /** The content, in an array of the caller's own. */
    public byte[] payload() {
        return payload.clone();
    }

    /** The aggregate's version after it, if it was given. */
    public OptionalLong version() {
        return version;
    }

    /** What travels with it, sorted by name. */
    public Map<String, String> headers() {
        return Collections.unmodifiableSortedMap(headers);
    }

    /**
     * What the outbox knows of it; for publishers.
     *
     * @throws IllegalStateException if it has not been stored yet
     */
    public Delivery delivery() {
        if (delivery == null) {
            throw new IllegalStateException(
                    "The event has not been stored yet; only a publisher's events have a"
                            + " delivery.");
        }
        return delivery;
    }

    /** True if both say the same: all but the headers, which may tell of the attempt. */
    boolean saysTheSameAs(OutboxEvent other) {
        return key.equals(other.key)
                && aggregateType.equals(other.aggregateType)
                && aggregateId.equals(other.aggregateId)
                && type.equals(other.type)
                && version.equals(other.version)
                && Arrays.equals(payload, other.payload);
    }

    /** Types and length, never key, ids or content. */
    @Override
    public String toString() {
        return "OutboxEvent[%s of %s, %d bytes]".formatted(type, aggregateType, payload.length);
    }
}
