package io.onlyonce.torture;

import io.onlyonce.ground.PostgresServer;

final class Mutants {
    private Mutants() {}

    static boolean run(PostgresServer server, Torture.Arguments arguments) {
        return false;
    }
}
