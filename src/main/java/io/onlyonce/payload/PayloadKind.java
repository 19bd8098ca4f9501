package io.onlyonce.payload;

/**
 * What a payload is to its hash; part of the frame and of the stored version, so kinds never
 * collide.
 */
enum PayloadKind {
    JSON(1, "json"),
    BYTES(2, "bytes"),
    FIELDS(3, "fields");

    final int code;
    final String label;

    PayloadKind(int code, String label) {
        this.code = code;
        this.label = label;
    }
}
