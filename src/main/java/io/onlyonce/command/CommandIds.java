package io.onlyonce.command;

import java.security.SecureRandom;
import java.util.UUID;

/** Makes command ids for clients that have none of their own. */
public final class CommandIds {

    private static final SecureRandom RANDOM = new SecureRandom();

    private CommandIds() {}

    /**
     * A new id, unique everywhere: a UUID of version 7. Ids made later sort later, to the
     * millisecond, which keeps the index small and its pages warm.
     */
    public static String next() {
        long high = (System.currentTimeMillis() << 16) | 0x7000L | RANDOM.nextInt(0x1000);
        long low = (RANDOM.nextLong() >>> 2) | 0x8000_0000_0000_0000L;
        return new UUID(high, low).toString();
    }
}
