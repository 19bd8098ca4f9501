package io.onlyonce.ground;

import java.util.ArrayList;
import java.util.List;

/** The round trips of all connections of a proxy, in the order in which they reached it. */
final class FlightLog {

    private final List<List<String>> flights = new ArrayList<>();

    synchronized void add(Flight flight) {
        if (flight.roundTrip()) {
            flights.add(flight.statements());
        }
    }

    synchronized List<List<String>> flights() {
        return List.copyOf(flights);
    }

    synchronized void clear() {
        flights.clear();
    }
}
