package io.onlyonce.inbox;

import io.onlyonce.payload.PayloadHash;
import io.onlyonce.sql.Fingerprint;
import io.onlyonce.sql.Names;

import java.util.Objects;
import java.util.Optional;

/**
 * A message as a consumer receives it. Tenant, source and id are its identity, together with the
 * consumer; the same identity with another payload is refused. Immutable; every {@code with} makes
 * a copy.
 */
public final class InboxMessage {

    private final String tenant;
    private final String source;
    private final String id;
    private final byte[] payload;
    private final PayloadHash hash;
    private final Optional<String> orderingKey;

    private InboxMessage(
            String tenant,
            String source,
            String id,
            byte[] payload,
            PayloadHash hash,
            Optional<String> orderingKey) {
        this.tenant = tenant;
        this.source = source;
        this.id = id;
        this.payload = payload;
        this.hash = hash;
        this.orderingKey = orderingKey;
    }

    /**
     * A message with the bytes that arrived, hashed as they are; a copy of them is kept.
     *
     * @param tenant whose data it is about, 1 to 128 characters
     * @param source who sent it, for example a topic or a provider, 1 to 255 characters
     * @param id its identity at the source, the same in every delivery, 1 to 255 characters
     */
    public static InboxMessage of(String tenant, String source, String id, byte[] payload) {
        return new InboxMessage(
                Names.require(tenant, "tenant", 128),
                Names.require(source, "source", 255),
                Names.require(id, "message id", 255),
                payload.clone(),
                PayloadHash.ofBytes(payload),
                Optional.empty());
    }

    /**
     * Another hash of the payload, for senders whose bytes differ between deliveries of the same
     * message: {@code PayloadHash.ofJson} does not mind the order of keys.
     */
    public InboxMessage withHash(PayloadHash hash) {
        return new InboxMessage(
                tenant, source, id, payload, Objects.requireNonNull(hash, "hash"), orderingKey);
    }

    /**
     * In a batch, messages of a tenant with this key are processed in order: after one that failed,
     * the later ones are skipped.
     */
    public InboxMessage withOrderingKey(String key) {
        return new InboxMessage(
                tenant,
                source,
                id,
                payload,
                hash,
                Optional.of(Objects.requireNonNull(key, "ordering key")));
    }

    /** Whose data it is about. */
    public String tenant() {
        return tenant;
    }

    /** Who sent it. */
    public String source() {
        return source;
    }

    /** Its identity at the source. */
    public String id() {
        return id;
    }

    /** A copy of the bytes that arrived. */
    public byte[] payload() {
        return payload.clone();
    }

    /** What duplicates are compared by. */
    public PayloadHash hash() {
        return hash;
    }

    /** What order is kept within, in a batch. */
    public Optional<String> orderingKey() {
        return orderingKey;
    }

    /** What makes two copies one message. */
    record Identity(String tenant, String source, String id) {}

    Identity identity() {
        return new Identity(tenant, source, id);
    }

    /** Names the source and a short hash, never the id. */
    @Override
    public String toString() {
        return source + " #" + Fingerprint.of(tenant, id).toShortHex();
    }
}
