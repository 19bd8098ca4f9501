package io.onlyonce.payload;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Pattern;

import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Stored bytes are one for the format (1), twelve of nonce, then the ciphertext with its sixteen of
 * tag. Frozen, like the labels that keys are derived with: rows outlive releases.
 */
final class AesGcmCipher implements ResultCipher {

    private static final Pattern ID = Pattern.compile("[A-Za-z0-9._-]{1,48}");
    private static final int KEY_BYTES = 32;
    private static final byte FORMAT = 1;
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;
    private static final String HMAC = "HmacSHA256";

    private final SecureRandom random = new SecureRandom();
    private final Map<String, Key> keys = new HashMap<>();
    private final String current;

    private record Key(SecretKeySpec results, SecretKeySpec hashes) {}

    AesGcmCipher(String currentKeyId, Map<String, byte[]> given) {
        if (!given.containsKey(currentKeyId)) {
            throw new IllegalArgumentException("The current key id must be one of the keys.");
        }
        String found = "";
        for (Map.Entry<String, byte[]> entry : given.entrySet()) {
            String stored = add(entry.getKey(), entry.getValue().clone());
            found = entry.getKey().equals(currentKeyId) ? stored : found;
        }
        current = found;
    }

    /** Returns the id that rows name it by. */
    private String add(String id, byte[] master) {
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException(
                    "A key id must be 1 to 48 letters, digits, dots, hyphens and underscores.");
        }
        if (master.length != KEY_BYTES) {
            throw new IllegalArgumentException(
                    "A key must have 32 bytes of randomness; a password is no key.");
        }
        var secret = new SecretKeySpec(master, HMAC);
        String check = HexFormat.of().formatHex(derived(secret, "check"), 0, 4);
        String stored = id + ":" + check;
        keys.put(
                stored,
                new Key(
                        new SecretKeySpec(derived(secret, "results"), "AES"),
                        new SecretKeySpec(derived(secret, "hashes"), HMAC)));
        return stored;
    }

    private static byte[] derived(SecretKeySpec master, String what) {
        return mac(master, ("onlyonce/key/1/" + what).getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public String currentKeyId() {
        return current;
    }

    @Override
    public byte[] encrypt(String keyId, byte[] context, byte[] content) {
        var nonce = new byte[NONCE];
        random.nextBytes(nonce);
        try {
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, keyId, nonce, context).doFinal(content);
            return ByteBuffer.allocate(1 + NONCE + sealed.length)
                    .put(FORMAT)
                    .put(nonce)
                    .put(sealed)
                    .array();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every JDK has AES-256-GCM", e);
        }
    }

    @Override
    public byte[] decrypt(String keyId, byte[] context, byte[] stored) {
        key(keyId);
        if (stored.length < 1 + NONCE + TAG_BITS / 8 || stored[0] != FORMAT) {
            throw StoredResultUnreadableException.undecryptable();
        }
        byte[] nonce = Arrays.copyOfRange(stored, 1, 1 + NONCE);
        try {
            return cipher(Cipher.DECRYPT_MODE, keyId, nonce, context)
                    .doFinal(stored, 1 + NONCE, stored.length - 1 - NONCE);
        } catch (AEADBadTagException e) {
            throw StoredResultUnreadableException.undecryptable();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every JDK has AES-256-GCM", e);
        }
    }

    @Override
    public byte[] hash(String keyId, byte[] context, byte[] payloadHash) {
        return mac(key(keyId).hashes(), context, payloadHash);
    }

    private Cipher cipher(int mode, String keyId, byte[] nonce, byte[] context)
            throws GeneralSecurityException {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(mode, key(keyId).results(), new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(context);
        return cipher;
    }

    private static byte[] mac(SecretKeySpec key, byte[]... parts) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(key);
            for (byte[] part : parts) {
                mac.update(ByteBuffer.allocate(4).putInt(part.length).array());
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("Every JDK has HMAC-SHA-256", e);
        }
    }

    private Key key(String keyId) {
        Key key = keys.get(keyId);
        if (key == null) {
            throw new UnknownResultKeyException(keyId);
        }
        return key;
    }

    /** Never the keys. */
    @Override
    public String toString() {
        return "AES-256-GCM under " + current;
    }
}
