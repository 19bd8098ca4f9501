package io.onlyonce.command;

import io.onlyonce.ground.FaultProxy;

import java.util.List;

/** Reads what went over the wire. */
final class Wire {

    private Wire() {}

    /** Without the pool's own looks whether a connection lives, which execute nothing. */
    static List<List<String>> flights(FaultProxy proxy) {
        return proxy.flights().stream()
                .filter(flight -> !flight.stream().allMatch(String::isEmpty))
                .toList();
    }

    static boolean claims(List<String> flight) {
        return flight.stream().anyMatch(sql -> sql.contains("pg_try_advisory_xact_lock"));
    }
}
