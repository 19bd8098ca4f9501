package io.onlyonce.ground;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads a client's half of the PostgreSQL protocol (version 3), flight by flight.
 *
 * <p>It remembers what prepared statements and portals stand for, so that an Execute is known by
 * its SQL even when the text travelled long ago.
 */
final class FlightReader {

    private static final int SSL_REQUEST = 80877103;
    private static final int GSS_ENCRYPTION_REQUEST = 80877104;

    /**
     * Parse, Bind, Describe, Execute and Close wait for a Sync; every other message may end a
     * flight.
     */
    private static final String CONTINUED = "PBDEC";

    /** Sync, Query and FunctionCall are each answered by one ReadyForQuery. */
    private static final String ROUND_TRIP = "SQF";

    private final DataInputStream in;
    private final Map<String, String> prepared = new HashMap<>();
    private final Map<String, String> portals = new HashMap<>();

    FlightReader(InputStream in) {
        this.in = new DataInputStream(new BufferedInputStream(in, 1 << 16));
    }

    /** The startup packet, after refusing encryption, through which a proxy could not read. */
    byte[] startup(OutputStream client) throws IOException {
        while (true) {
            byte[] body = body();
            int code = ByteBuffer.wrap(body).getInt();
            if (code != SSL_REQUEST && code != GSS_ENCRYPTION_REQUEST) {
                return ByteBuffer.allocate(body.length + 4)
                        .putInt(body.length + 4)
                        .put(body)
                        .array();
            }
            client.write('N');
            client.flush();
        }
    }

    /**
     * The next flight; empty if the client has gone, also when it went in the middle of one.
     *
     * <p>A flight ends where the client stopped writing: messages that lie here already when a Sync
     * has been read were sent without waiting for its answer.
     */
    Optional<Flight> next() throws IOException {
        var bytes = new ByteArrayOutputStream();
        List<String> statements = new ArrayList<>();
        int answers = 0;
        char type;
        try {
            do {
                type = (char) in.readUnsignedByte();
                byte[] body = body();
                bytes.write(type);
                bytes.write(ByteBuffer.allocate(4).putInt(body.length + 4).array());
                bytes.write(body);
                understand(type, new Fields(body), statements);
                answers += ROUND_TRIP.indexOf(type) >= 0 ? 1 : 0;
            } while (CONTINUED.indexOf(type) >= 0 || in.available() > 0);
        } catch (EOFException e) {
            return Optional.empty();
        }
        return Optional.of(new Flight(bytes.toByteArray(), List.copyOf(statements), answers));
    }

    private void understand(char type, Fields fields, List<String> statements) {
        switch (type) {
            case 'Q' -> statements.add(fields.text().strip());
            case 'P' -> prepared.put(fields.text(), fields.text().strip());
            case 'B' -> portals.put(fields.text(), prepared.getOrDefault(fields.text(), ""));
            case 'E' -> statements.add(portals.getOrDefault(fields.text(), ""));
            case 'C' -> (fields.letter() == 'S' ? prepared : portals).remove(fields.text());
            default -> {}
        }
    }

    private byte[] body() throws IOException {
        byte[] body = new byte[in.readInt() - 4];
        in.readFully(body);
        return body;
    }

    /** Reads a message's fields from the left. */
    private static final class Fields {

        private final byte[] body;
        private int position;

        Fields(byte[] body) {
            this.body = body;
        }

        char letter() {
            return (char) body[position++];
        }

        String text() {
            int start = position;
            while (body[position] != 0) {
                position++;
            }
            return new String(body, start, position++ - start, StandardCharsets.UTF_8);
        }
    }
}
