package io.onlyonce.sql;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.UUID;

/**
 * SHA-256 over texts, each behind its length, so that no two lists of texts are hashed alike. What
 * is derived here is a contract between releases that run side by side, and never changes.
 */
public final class Fingerprint {

    private final byte[] digest;

    private Fingerprint(byte[] digest) {
        this.digest = digest;
    }

    /** Lengths are four bytes, big endian; texts are UTF-8. */
    public static Fingerprint of(String... texts) {
        return new Fingerprint(sha256().digest(framed(texts)));
    }

    /** What is hashed: each text behind its length. */
    public static byte[] framed(String... texts) {
        byte[][] bytes = new byte[texts.length][];
        int length = 0;
        for (int i = 0; i < texts.length; i++) {
            bytes[i] = texts[i].getBytes(StandardCharsets.UTF_8);
            length += Integer.BYTES + bytes[i].length;
        }
        ByteBuffer frames = ByteBuffer.allocate(length);
        for (byte[] each : bytes) {
            frames.putInt(each.length).put(each);
        }
        return frames.array();
    }

    /** The first eight bytes: an advisory lock key. */
    public long toLong() {
        return ByteBuffer.wrap(digest).getLong();
    }

    /** The first sixteen bytes as a UUID of version 8, whose content is the maker's own affair. */
    public UUID toUuid() {
        ByteBuffer bytes = ByteBuffer.wrap(digest);
        long high = (bytes.getLong() & 0xFFFF_FFFF_FFFF_0FFFL) | 0x8000L;
        long low = (bytes.getLong() & 0x3FFF_FFFF_FFFF_FFFFL) | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }

    /** Eight hex digits, to tell ids apart in a log without showing them. */
    public String toShortHex() {
        return HexFormat.of().formatHex(digest, 0, 4);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JDK has SHA-256", e);
        }
    }
}
