package io.onlyonce.payload;

import com.fasterxml.jackson.databind.JsonNode;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;

/**
 * Equal for payloads that mean the same, different for all others: 32 bytes and the version that
 * says how they were computed.
 *
 * <p>The version covers kind (JSON, bytes, fields) and algorithm. A hash knows every version of its
 * own payload, so a row of last year is compared by last year's algorithm; for that it keeps the
 * payload's canonical content as long as it lives. Immutable and safe for any thread; nothing here
 * blocks.
 *
 * <p>Prefer the bytes you received: how an object is written as JSON may change with its class.
 */
public final class PayloadHash {

    private final HashVersions versions;
    private final PayloadKind kind;
    private final int schemaVersion;
    private final byte[] content;
    private final byte[] current;

    PayloadHash(HashVersions versions, PayloadKind kind, int schemaVersion, byte[] content) {
        this.versions = versions;
        this.kind = kind;
        this.schemaVersion = schemaVersion;
        this.content = content;
        this.current = compute(versions.current(kind));
    }

    /**
     * The hash of JSON in UTF-8, whatever its key order, whitespace, escapes and number spelling.
     *
     * @throws InvalidPayloadException with a reason, if the text has no single meaning or is too
     *     large
     */
    public static PayloadHash ofJson(byte[] utf8) {
        return ofJson(utf8, JsonLimits.DEFAULTS);
    }

    /** Like {@link #ofJson(byte[])}, within these limits. */
    public static PayloadHash ofJson(byte[] utf8, JsonLimits limits) {
        return json(new CanonicalJson(limits).canonicalize(utf8));
    }

    /** The hash of JSON text; the same as that of its UTF-8 bytes. */
    public static PayloadHash ofJson(String json) {
        return ofJson(json, JsonLimits.DEFAULTS);
    }

    /** Like {@link #ofJson(String)}, within these limits. */
    public static PayloadHash ofJson(String json, JsonLimits limits) {
        return json(new CanonicalJson(limits).canonicalize(json));
    }

    /**
     * The hash of a JSON tree, as the tree holds it.
     *
     * <p>A tree that was parsed into binary floats has lost digits beyond the seventeenth already;
     * hash the bytes where that matters.
     */
    public static PayloadHash ofJson(JsonNode tree) {
        return ofJson(tree, JsonLimits.DEFAULTS);
    }

    /** Like {@link #ofJson(JsonNode)}, within these limits. */
    public static PayloadHash ofJson(JsonNode tree, JsonLimits limits) {
        return ofJson(PayloadMapper.write(notNull(tree), limits), limits);
    }

    /**
     * The hash of an object as a fixed mapper writes it, the same on every JDK and in every
     * process.
     *
     * <p>Records, beans, maps, collections, enums and {@code Optional} are written as Jackson does;
     * {@code java.time} values as the ISO-8601 text of their {@code toString}, those of {@code
     * java.sql} like them; {@code byte[]} inside as Base64; the elements of every {@code Set} in
     * canonical order; {@code float} and {@code double} as the shortest decimal that reads back as
     * the same value. A {@code byte[]}, {@code String} or {@code JsonNode} is JSON itself, as in
     * the other overloads.
     */
    public static PayloadHash ofJson(Object value) {
        return ofJson(value, JsonLimits.DEFAULTS);
    }

    /** Like {@link #ofJson(Object)}, within these limits. */
    public static PayloadHash ofJson(Object value, JsonLimits limits) {
        if (notNull(value) instanceof byte[] utf8) {
            return ofJson(utf8, limits);
        }
        return ofJson(
                value instanceof String json ? json : PayloadMapper.write(value, limits), limits);
    }

    /** The hash of exactly these bytes, of any length; a copy of them is kept. */
    public static PayloadHash ofBytes(byte[] bytes) {
        return new PayloadHash(HashVersions.KNOWN, PayloadKind.BYTES, 0, bytes.clone());
    }

    /**
     * The hash of named fields in any order, each name and value behind its length, so that no
     * value can pretend to be two.
     *
     * <p>The content is the number of fields, then in the order of their names (by UTF-16 code
     * unit) the name's length and UTF-8, one letter, the value's length and bytes; numbers are four
     * bytes, big endian. The letter is {@code s} for a String in UTF-8, {@code b} for a {@code
     * byte[]}, {@code n} for null (length 0), {@code j} for the canonical JSON of anything else,
     * written as in {@link #ofJson(Object)}. A field that is null differs from an empty one and
     * from one that is absent.
     */
    public static PayloadHash ofFields(Map<String, ?> fields) {
        return ofFields(fields, JsonLimits.DEFAULTS);
    }

    /**
     * Like {@link #ofFields(Map)}, within these limits; the size is that of all names and values.
     */
    public static PayloadHash ofFields(Map<String, ?> fields, JsonLimits limits) {
        byte[] content = new FieldsEncoder(limits).encode(fields);
        return new PayloadHash(HashVersions.KNOWN, PayloadKind.FIELDS, 0, content);
    }

    private static <T> T notNull(T payload) {
        return Objects.requireNonNull(
                payload, "The payload is null; hash the JSON text \"null\" if that is meant");
    }

    private static PayloadHash json(byte[] canonical) {
        return new PayloadHash(HashVersions.KNOWN, PayloadKind.JSON, 0, canonical);
    }

    /**
     * The hash of the same content under the user's own schema version: the same text that means
     * something else since version 2 is another payload.
     *
     * @param version 1 or more; a hash without it differs from all of them
     */
    public PayloadHash withSchemaVersion(int version) {
        if (version < 1) {
            throw new IllegalArgumentException("A payload schema version must be 1 or more");
        }
        return new PayloadHash(versions, kind, version, content);
    }

    /** The user's own schema version of the payload; 0 without one. */
    public int schemaVersion() {
        return schemaVersion;
    }

    /** The version that new rows are written with unless told otherwise. */
    public int currentVersion() {
        return versions.current(kind);
    }

    /**
     * The version of this kind of payload under a given algorithm, for processes that must still
     * write what their older neighbours can read.
     *
     * @throws UnsupportedHashVersionException if there is no such algorithm
     */
    public int version(int algorithm) {
        return versions.version(algorithm, kind);
    }

    /**
     * The 32 bytes under one version, in an array of the caller's own.
     *
     * @throws UnsupportedHashVersionException if this release does not know the version
     */
    public byte[] bytes(int version) {
        if (version == currentVersion()) {
            return current.clone();
        }
        if (!isOfKind(version)) {
            throw new IllegalArgumentException(
                    "Hash version "
                            + version
                            + " is for another kind of payload; ask for version(algorithm)");
        }
        return compute(version);
    }

    /**
     * True if a hash stored under any known version was computed from this payload; a hash of
     * another kind never was.
     *
     * @throws UnsupportedHashVersionException if this release does not know the version, because
     *     then neither answer would be true
     */
    public boolean matches(int storedVersion, byte[] storedHash) {
        return isOfKind(storedVersion) && MessageDigest.isEqual(bytes(storedVersion), storedHash);
    }

    /**
     * True if a stored version is for this kind of payload, so that {@link #bytes} has an answer.
     *
     * @throws UnsupportedHashVersionException if this release does not know the version
     */
    public boolean isOfKind(int storedVersion) {
        versions.algorithm(storedVersion);
        return HashVersions.isOf(storedVersion, kind);
    }

    private byte[] compute(int version) {
        return versions.algorithm(version).hash(kind, schemaVersion, content);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PayloadHash that
                && currentVersion() == that.currentVersion()
                && Arrays.equals(current, that.current);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(current);
    }

    /**
     * The version and eight hex digits: enough to tell hashes apart in a log, too little to guess
     * from.
     */
    @Override
    public String toString() {
        return "PayloadHash[v"
                + currentVersion()
                + " "
                + HexFormat.of().formatHex(current, 0, 4)
                + "…]";
    }
}
