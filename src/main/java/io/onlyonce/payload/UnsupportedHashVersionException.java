package io.onlyonce.payload;

import io.onlyonce.OnlyOnceException;

/**
 * A stored payload hash was written by an algorithm that this release does not know, so nobody can
 * say whether the payload is the same: the command is neither run nor called a mismatch.
 */
public final class UnsupportedHashVersionException extends OnlyOnceException {

    private static final long serialVersionUID = 1L;

    private final int version;

    UnsupportedHashVersionException(int version) {
        super(
                "Payload hash version "
                        + version
                        + " is unknown to this release of OnlyOnce; upgrade every process before"
                        + " one of them writes a newer version.");
        this.version = version;
    }

    /** The version that was asked for. */
    public int version() {
        return version;
    }
}
