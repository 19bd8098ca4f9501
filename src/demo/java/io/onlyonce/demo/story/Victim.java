package io.onlyonce.demo.story;

import java.io.IOException;
import java.io.UncheckedIOException;

/** A process of its own that begins a transfer and stands still at a moment, until it is killed. */
final class Victim {

    private Victim() {}

    /**
     * Arguments: kind and name of the side, the order, the moment. The rest is in the environment.
     */
    public static void main(String[] args) throws Exception {
        Side.Kind kind = Side.Kind.valueOf(args[0]);
        Moment moment = Moment.valueOf(args[4]);
        var bank = new Bank(System.getenv(Killable.SCHEMA), args[1]);
        try (var pool = Ground.pool(System.getenv(Killable.URL), 1, 1)) {
            Teller teller = Side.teller(kind, pool, bank);
            standStill(Killable.READY); // until it is told to go on
            teller.transfer(
                    new Order(args[2], Long.parseLong(args[3])),
                    reached -> {
                        if (reached == moment) {
                            standStill(reached.name());
                        }
                    });
        }
    }

    /** Says where it stands; goes on at a line, and ends with the process that started it. */
    private static void standStill(String where) {
        System.out.println(where);
        System.out.flush();
        try {
            int next = System.in.read();
            if (next < 0) {
                Runtime.getRuntime().halt(1);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
